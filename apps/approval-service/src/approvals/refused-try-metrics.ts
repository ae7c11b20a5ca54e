import { Counter } from 'prom-client';
import type { Logger } from '#service/logger';
import type { RefusedTryReport } from './refused-tries.js';

const refused = new Counter({
  name: 'holdpoint_refused_tries_total',
  help: 'Decisions and revocations that were tried in vain, repeats too, by reason',
  labelNames: ['why'],
});
const unrecorded = new Counter({
  name: 'holdpoint_refused_tries_unrecorded_total',
  help: 'Tries in vain that were answered although the log could not take the fact',
});

export const refusedTryMetrics = (logger: Logger): RefusedTryReport => ({
  counted: (why) => refused.inc({ why }),
  unrecorded: ({ approvalId, why }, error) => {
    unrecorded.inc();
    logger.warn({ err: error, approvalId, why }, 'a try in vain was answered, but may not be in the log');
  },
});
