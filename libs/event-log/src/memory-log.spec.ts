import { describe } from '@jest/globals';
import { DURABLES } from './durables.js';
import { describeLogContract } from './log.contract.js';
import { MemoryLog } from './memory-log.js';

describe('the log in memory', () => {
  const log = new MemoryLog(DURABLES);
  describeLogContract(() => log);
});
