// @ts-check
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
const LOOK_EVERY_MS = 250;

/** When we are asked to stop: by a signal, or because the npm that runs us was killed and could not pass one on. */
export const askedToStop = () => Promise.race([signalled(), npmGone()]);

/** @returns {Promise<void>} */
const signalled = () => new Promise((resolve) => SIGNALS.forEach((signal) => process.on(signal, () => resolve())));

/** Started by hand or by a supervisor, a parent that goes means nothing. @returns {Promise<void>} */
function npmGone() {
  const npm = process.ppid;
  if (process.env['npm_lifecycle_event'] === undefined) return new Promise(() => undefined);
  return new Promise((resolve) => {
    setInterval(() => (process.ppid === npm ? undefined : resolve()), LOOK_EVERY_MS).unref();
  });
}
