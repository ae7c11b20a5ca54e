/**
 * Loaded into a service under measurement with `--expose-gc --import`: answers its parent what it holds after a collection.
 * The product itself knows nothing of it.
 */
process.on('message', (message) => {
  if (message !== 'memory') return;
  globalThis.gc();
  globalThis.gc();
  process.send(process.memoryUsage());
});
process.channel?.unref();
