import { setTimeout as sleep } from 'node:timers/promises';

/** So many a second, each at its own time, whether or not those before it are done; gives all when all are done. */
export function atRate<Item, Result>(
  perSecond: number,
  items: readonly Item[],
  one: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const begun = performance.now();
  return Promise.all(
    items.map(async (item, index) => {
      await sleep(Math.max(0, begun + (index * 1_000) / perSecond - performance.now()));
      return one(item);
    }),
  );
}

/** What goes on for so many seconds. */
export const forSeconds = <Result>(seconds: number, perSecond: number, one: () => Promise<Result>): Promise<Result[]> =>
  atRate(perSecond, Array.from({ length: Math.ceil(perSecond * seconds) }), one);
