import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { defineTable, type AnyRow, type Change } from '#decider/projection';
import { mergeChanges } from './merge.js';

const table = defineTable({ name: 't', key: ['id'], columns: { id: 'text', a: 'integer', b: 'integer' } });
const put = (row: AnyRow): Change => ({ kind: 'put', row });
const remove = (id: string): Change => ({ kind: 'remove', key: { id } });
const merged = (...changes: Change[]) => {
  const { puts, removals } = mergeChanges(table, changes);
  return { puts, removals };
};

describe('changes of one batch', () => {
  it('to one row become one, the last of a column counting', () =>
    expect(
      merged(put({ id: 'x', a: 1 }), put({ id: 'y', a: 5 }), put({ id: 'x', b: 2 }), put({ id: 'x', a: 3 })).puts,
    ).toEqual([
      { id: 'x', a: 3, b: 2 },
      { id: 'y', a: 5 },
    ]));
  it('leave a column alone that is undefined', () =>
    expect(merged(put({ id: 'x', a: 1 }), put({ id: 'x', a: undefined })).puts).toEqual([{ id: 'x', a: 1 }]));
  it('that are removed are not put, and are removed from the table too', () =>
    expect(merged(put({ id: 'x', a: 1 }), remove('x'))).toEqual({ puts: [], removals: [{ id: 'x' }] }));
  it('that come after a removal begin anew', () =>
    expect(merged(put({ id: 'x', a: 1 }), remove('x'), put({ id: 'x', b: 2 }))).toEqual({
      puts: [{ id: 'x', b: 2 }],
      removals: [{ id: 'x' }],
    }));
});

describe('batches of any size', () => {
  const change = fc.oneof(
    fc.record({
      kind: fc.constant('put' as const),
      row: fc.record({ id: fc.constantFrom('x', 'y'), a: fc.integer(), b: fc.integer() }, { requiredKeys: ['id'] }),
    }),
    fc.record({ kind: fc.constant('remove' as const), key: fc.record({ id: fc.constantFrom('x', 'y') }) }),
  );
  /** As Postgres does: removals, then each row over what is there. */
  function applied(rows: Map<unknown, AnyRow>, changes: readonly Change[]): Map<unknown, AnyRow> {
    const { puts, removals } = mergeChanges(table, changes);
    for (const { id } of removals) rows.delete(id);
    for (const row of puts) rows.set(row['id'], { ...rows.get(row['id']), ...row });
    return rows;
  }
  it('give the same rows', () =>
    fc.assert(
      fc.property(fc.array(change), fc.nat(), (changes, cut) => {
        const at = changes.length === 0 ? 0 : cut % changes.length;
        const inTwo = applied(applied(new Map(), changes.slice(0, at)), changes.slice(at));
        const oneByOne = changes.reduce((rows, one) => applied(rows, [one]), new Map<unknown, AnyRow>());
        const sorted = (rows: Map<unknown, AnyRow>) => [...rows].sort(([a], [b]) => String(a).localeCompare(String(b)));
        expect(sorted(inTwo)).toEqual(sorted(oneByOne));
        expect(sorted(applied(new Map(), changes))).toEqual(sorted(oneByOne));
      }),
    ));
});
