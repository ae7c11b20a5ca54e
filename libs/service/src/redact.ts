const REDACTED = '[redacted]';

/** Keys whose value is a secret whatever it looks like; letters and digits only, in lower case. */
const SECRET_KEY =
  /passw(or)?d|passphrase|pwd$|secret|apikey|accesskey|privatekey|signingkey|encryptionkey|authorization|cookie|credential|sessionid|token|bearer|^auth$|^jwt$|^pin$|^otp$|^cvv\d?$|^cvc\d?$|^cardnumber$/;
/** Tokens that are counted, not shown to anybody as a key. */
const COUNT_KEY = /tokens$|tokencount|tokenlimit|tokenbudget|tokenusage/;

/** A run of letters begins here: each such run is looked at once, however long. */
const START = String.raw`(?<![A-Za-z0-9_-])`;
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g, REDACTED],
  [new RegExp(`${START}(bearer|basic)[ \\t]+[A-Za-z0-9._~+/=-]{8,}`, 'gi'), `$1 ${REDACTED}`],
  [new RegExp(`${START}eyJ[A-Za-z0-9_-]{5,}\\.[A-Za-z0-9_-]{5,}(\\.[A-Za-z0-9_-]+){0,3}`, 'g'), REDACTED],
  [new RegExp(`${START}hp_[a-z0-9_]{2,40}_[A-Za-z0-9_-]{16,}`, 'g'), REDACTED],
  [new RegExp(`${START}(AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])`, 'g'), REDACTED],
  [
    new RegExp(`${START}(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{18,})`, 'g'),
    REDACTED,
  ],
  [new RegExp(`${START}(xox[abeprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{40,})`, 'g'), REDACTED],
  [
    new RegExp(`${START}([srp]k_(live|test)_[A-Za-z0-9]{10,}|sk-[A-Za-z0-9_-]{20,}|whsec_[A-Za-z0-9]{16,})`, 'g'),
    REDACTED,
  ],
  [new RegExp(`${START}(AIza[A-Za-z0-9_-]{35}|ya29\\.[A-Za-z0-9_-]{20,})`, 'g'), REDACTED],
  [/(AccountKey|SharedAccessKey|sig)=[A-Za-z0-9%+/=]{20,}/g, `$1=${REDACTED}`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,200}):[^\s/@]{1,500}@/gi, `$1:${REDACTED}@`],
  [/\b(password|passwd|pwd|secret|api[_-]?key|access[_-]?token|token)(\s?[=:]\s?)[^\s&"',;]{3,}/gi, `$1$2${REDACTED}`],
];
/** Thirteen to nineteen digits under a card's first digits, with single spaces or dashes between them. */
const CARD = /(?<!\d|\d[ -])(?:[3-6]|2[2-7])(?:[ -]?\d){12,18}(?!\d)/g;

/**
 * A copy that may leave for logs, lists and notifications: secrets are replaced, by the key they stand under and by
 * their shape, however deep. What is no plain JSON (an error, a date) stays as it is.
 */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'number') return isCard(String(value)) ? REDACTED : value;
  if (Array.isArray(value)) return value.map(redact);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactField(key, inner)]));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Nothing, yes and no, and counts of tokens tell no secret. */
function redactField(key: string, value: unknown): unknown {
  const name = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  const harmless = value === null || value === undefined || typeof value === 'boolean' || value === '';
  if (harmless || !SECRET_KEY.test(name)) return redact(value);
  return COUNT_KEY.test(name) && typeof value === 'number' ? value : REDACTED;
}

function redactText(text: string): string {
  const inner = jsonIn(text);
  if (inner !== undefined) return JSON.stringify(redact(inner));
  const shaped = SHAPES.reduce((left, [shape, instead]) => left.replace(shape, instead), text);
  return shaped.replace(CARD, (digits) => (isCard(digits) ? REDACTED : digits));
}

/** Objects are also sent as text, within text. */
function jsonIn(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** By the check digit (Luhn): most long numbers are no card. */
function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  if (!/^(?:[3-6]|2[2-7])\d{12,18}$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const doubled = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
