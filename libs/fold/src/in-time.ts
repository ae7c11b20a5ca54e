import { createContext, Script } from 'node:vm';

/** It was stopped: whatever it was at may be half done. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

const context: { run?: () => unknown } = {};
createContext(context);
const script = new Script('run()');

/** Runs what must not hold up the service, and stops it even in the middle of a loop. */
export function inTime<Value>(ms: number, run: () => Value): Value {
  if (ms < 1) throw new OutOfTime('takes too long');
  try {
    context.run = run;
    return script.runInContext(context, { timeout: Math.ceil(ms) }) as Value;
  } catch (error) {
    throw isStopped(error) ? new OutOfTime('takes too long') : error;
  } finally {
    delete context.run;
  }
}

const isStopped = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
