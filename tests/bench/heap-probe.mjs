import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded into a service with `--import`: collects what can be collected, twice, and says what is left. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('message', (message) => {
  if (message !== 'heap') return;
  collect();
  setImmediate(() => {
    collect();
    process.send(process.memoryUsage());
  });
});
