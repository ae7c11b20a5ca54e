/**
 * Statements of one session, sent without waiting for each other's answer; Postgres runs them one after the other. The first that
 * fails is the cause: those after it fail for that alone.
 */
export async function inOrder(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const settled = await Promise.allSettled(works.map((work) => work()));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
