import fc from 'fast-check';
import { canonicalJson } from '#contracts/canonical';
import type { Written } from '#contracts/events';
import { decodeFact } from '#event-log/codec';
import { UnreadableFact, type RawFact } from '#event-log/log';
import { writing } from '../generate/damage.js';
import { hostileText, PROTOTYPE_KEYS } from '../generate/hostile.js';
import { EVENT_TYPES, factsOf, rawOf } from './facts.js';

/** Far above what the largest message the broker takes costs, far below a catastrophe. */
const LONGEST_DECODE_MS = 5_000;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** What is written is what is read: the same data, the same envelope, the same subject. */
export const staysTheSame = (type: Written['type']): fc.IProperty<[ReturnType<typeof rawOf>]> =>
  fc.property(factsOf(type).map(rawOf), (raw) => {
    const { event, seq: _, storedAt: __, tenant: ___, subject, ...envelope } = decodeFact(raw);
    const again = { ...envelope, data: event.data };
    if (canonicalJson(again) !== text(raw.data))
      throw new Error(`${text(raw.data)} was read as ${canonicalJson(again)}`);
    if (subject !== raw.subject) throw new Error(`It was under ${raw.subject} and is read under ${subject}`);
  });

/** Whatever the broker hands over is a fact or an `UnreadableFact`, in bounded time, and touches nothing else. */
export const decodesOrRefuses = (): fc.IProperty<[RawFact]> =>
  fc.property(damagedFact(), (raw) => {
    decodeOrRefuse(raw);
  });

/** Lists in lists where a contract has a list of objects: any depth of them is refused, and none is walked into. */
export const refusesListsInLists = (): fc.IProperty<[RawFact]> =>
  fc.property(
    fc
      .tuple(factsOf('ToolApprovalRequested').map(rawOf), fc.integer({ min: 2, max: 100_000 }))
      .map(([raw, levels]) => ({
        ...raw,
        data: Buffer.from(text(raw.data).replace(/"toolCalls":\[/, `$&${'['.repeat(levels)}${']'.repeat(levels)},`)),
      })),
    (raw) => {
      if (decodeOrRefuse(raw)) throw new Error('Lists in lists were read as calls');
    },
  );

/** Whether it was read. */
function decodeOrRefuse(raw: RawFact): boolean {
  const begun = performance.now();
  let isRead = true;
  try {
    checkShape(decodeFact(raw).event);
  } catch (error) {
    if (!(error instanceof UnreadableFact)) throw error;
    isRead = false;
  }
  if (performance.now() - begun > LONGEST_DECODE_MS) throw new Error(`It took ${performance.now() - begun} ms`);
  if (Object.keys(Object.prototype).length > 0 || 'polluted' in {})
    throw new Error('The prototype of everything was changed');
  return isRead;
}

/** A decoded event is an instance of its contract class, with none but its own fields. */
function checkShape({ type, data }: { readonly type: string; readonly data: object }): void {
  if (!(EVENT_TYPES as string[]).includes(type)) throw new Error(`An event of the type ${type} was read`);
  if (data.constructor.name !== type) throw new Error(`A ${type} was read as ${data.constructor.name}`);
  if (PROTOTYPE_KEYS.some((key) => Object.hasOwn(data, key))) throw new Error(`A ${type} has a field of the prototype`);
}

function damagedFact(): fc.Arbitrary<RawFact> {
  const good = fc.oneof(...EVENT_TYPES.map((type) => factsOf(type).map(rawOf)));
  const bodies = fc.tuple(good, writing()).map(([raw, write]) => ({ ...raw, data: write(JSON.parse(text(raw.data))) }));
  const headers = fc
    .tuple(good, damagedHeaders())
    .map(([raw, change]) => ({ ...raw, headers: { ...raw.headers, ...change } }));
  const subjects = fc.tuple(good, damagedSubject()).map(([raw, change]) => ({ ...raw, subject: change(raw.subject) }));
  const swapped = fc.tuple(good, good).map(([one, other]) => ({ ...one, headers: other.headers }));
  return fc.oneof({ arbitrary: bodies, weight: 6 }, headers, subjects, swapped);
}

const damagedHeaders = (): fc.Arbitrary<Record<string, string>> =>
  fc.oneof(
    fc.oneof(hostileText(), fc.constantFrom(...PROTOTYPE_KEYS)).map((name) => ({ 'ce-type': `holdpoint.${name}.v1` })),
    hostileText().map((value) => ({ 'ce-type': value })),
    hostileText().map((value) => ({ traceparent: value, 'ce-time': value })),
    fc.tuple(fc.constantFrom(...EVENT_TYPES), fc.constantFrom('.v1', '.v2', '', '.v1.v1')).map(([type, version]) => ({
      'ce-type': `holdpoint.${type}${version}`,
    })),
  );

const damagedSubject = (): fc.Arbitrary<(subject: string) => string> =>
  fc.oneof(
    hostileText().map((value) => () => value),
    fc.tuple(fc.nat(8), hostileText()).map(
      ([at, value]) =>
        (subject: string) =>
          subject
            .split('.')
            .with(at % subject.split('.').length, value)
            .join('.'),
    ),
    fc.nat(8).map((count) => (subject: string) => subject.split('.').slice(0, count).join('.')),
  );
