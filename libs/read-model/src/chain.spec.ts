import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from '#contracts/canonical';
import { instant } from '#contracts/ids';
import type { RawFact } from '#event-log/log';
import { canonicalHeaders, chain, CHAIN_START } from './chain.js';

const raw: RawFact = {
  seq: 1,
  subject: 'hp.v1.e1.default.x.dec',
  headers: { 'ce-id': 'a', 'ce-type': 'b' },
  data: new TextEncoder().encode('{}'),
  storedAt: instant(0),
};
const hex = (fact: RawFact, previous: Uint8Array = CHAIN_START) => chain(previous, fact).toString('hex');

describe('the hash chain', () => {
  it('is the same for the same message, whatever the order of its headers', () =>
    expect(hex({ ...raw, headers: { 'ce-type': 'b', 'ce-id': 'a' } })).toBe(hex(raw)));
  it('is what it always was', () =>
    expect(hex(raw)).toBe('b6ff7928d5c195998db7003615109ac1a6a23716e74907143e3aab3416ba77b4'));
  it.each<[string, Partial<RawFact>]>([
    ['sequence', { seq: 2 }],
    ['subject', { subject: 'hp.v1.e1.default.y.dec' }],
    ['headers', { headers: { 'ce-id': 'c', 'ce-type': 'b' } }],
    ['body', { data: new TextEncoder().encode('{ }') }],
    ['time', { storedAt: instant(1) }],
  ])('changes with the %s', (_, change) => expect(hex({ ...raw, ...change })).not.toBe(hex(raw)));
  it('changes with what came before', () => expect(hex(raw, chain(CHAIN_START, raw))).not.toBe(hex(raw)));
  it('writes headers in their canonical form', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), (headers) =>
        expect(canonicalHeaders(headers)).toBe(canonicalJson(headers)),
      ),
    ));
});
