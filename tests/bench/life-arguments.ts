import { createHash } from 'node:crypto';

const SMALL_WORDS = 55;
const LARGE_WORDS = 900;
const WORDS = [
  'invoice',
  'order',
  'customer',
  'delivery',
  'payment',
  'address',
  'thanks',
  'refund',
  'contract',
  'date',
];

export const SCHEMA = {
  type: 'object',
  required: ['to', 'subject', 'body'],
  properties: { to: { type: 'string' }, subject: { type: 'string' }, body: { type: 'string' } },
};

/** One turn in seven has arguments of about 8 KB, the others of about 600 bytes. */
const isLarge = (turn: number): boolean => turn % 7 === 3;

/** Prose as an agent writes it: neither the same every time nor noise, so that compression finds what it would find. */
export const argsOf = (turn: number, index: number) => ({
  to: `customer-${turn}@example.com`,
  subject: `Your invoice ${turn}-${index} of March`,
  body: words(`${turn}-${index}`, isLarge(turn) ? LARGE_WORDS : SMALL_WORDS),
});

function words(seed: string, count: number): string {
  const text: string[] = [];
  for (let round = 0; text.length < count; round++)
    for (const byte of createHash('sha256').update(`${seed}:${round}`).digest())
      text.push(byte % 8 === 0 ? `${byte * (round + 1)}-${seed}` : (WORDS[byte % WORDS.length] ?? ''));
  return text.slice(0, count).join(' ');
}
