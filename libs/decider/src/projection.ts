export type ColumnType = 'text' | 'integer' | 'bigint' | 'boolean' | 'timestamptz' | 'json';
/** JSON travels as its text: so a `\u0000` in it stays escaped. */
export type Value = string | number | boolean;

export interface Table {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnType>>;
}

export const defineTable = <const T extends Table>(table: T): T => table;

export type AnyRow = Readonly<Record<string, Value | undefined>>;
/** The key, and whichever columns are to be set: a column that is left out or undefined stays as it is. */
export type Row<T extends Table> = { readonly [Column in T['key'][number]]: Value } & {
  readonly [Column in keyof T['columns']]?: Value | undefined;
};
export type Key<T extends Table> = { readonly [Column in T['key'][number]]: Value };

/** What a fact does to one row. Each column is set by one kind of fact, so puts merge. */
export type Change<PutRow = AnyRow, RowKey = AnyRow> =
  { readonly kind: 'put'; readonly row: PutRow } | { readonly kind: 'remove'; readonly key: RowKey };
export type ChangeOf<T extends Table> = Change<Row<T>, Key<T>>;

/** A pure function from facts to rows: no clock, no look at other rows. `Known` is what the facts before it say, folded. */
export interface Projection<Fact, Known> {
  readonly table: Table;
  readonly project: (fact: Fact, known: Known) => readonly Change[];
}
