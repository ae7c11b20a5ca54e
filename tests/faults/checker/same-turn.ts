import type { Exchange } from './acknowledged.js';
import type { Report } from './violation.js';

/** The same request again, under its key, is the same turn. */
export function checkSameTurn(exchanges: readonly Exchange[], report: Report): void {
  const opened = new Map<string, string>();
  for (const { asked, told } of exchanges) {
    if (asked.op !== 'open' || asked.key === undefined || told.status >= 300) continue;
    const before = opened.get(asked.key) ?? told.body.turnId;
    if (before !== told.body.turnId)
      report('I2', asked.key, `under one key ${asked.by} was told of ${before} and of ${told.body.turnId}`);
    opened.set(asked.key, before);
  }
}
