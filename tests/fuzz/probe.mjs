// Loaded into each service before its own code: answers how much it holds after a collection, and says what went wrong inside.
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Nothing where the system does not tell. */
function openFiles() {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

process.on('message', (message) => {
  if (message?.fuzz !== 'measure') return;
  collect();
  collect();
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  process.send?.({ fuzz: 'measured', heapUsed, external, arrayBuffers, rss, files: openFiles() });
});
process.on('warning', ({ name, message }) => process.send?.({ fuzz: 'trouble', what: `${name}: ${message}` }));
process.on('uncaughtExceptionMonitor', (error, origin) =>
  process.send?.({ fuzz: 'trouble', what: `${origin}: ${error?.stack ?? error}` }),
);
