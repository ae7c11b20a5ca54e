import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into a service under measurement with `--import`: answers its parent what it holds after two collections. The product
 * itself knows nothing of it.
 */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('message', (message) => {
  if (message !== 'memory') return;
  collect();
  setImmediate(() => {
    collect();
    process.send(process.memoryUsage());
  });
});
process.channel?.unref();
