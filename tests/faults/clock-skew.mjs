// @ts-check
/** Loaded into a service with `--import`: its clock is SKEW_MS away from everybody else's. */
const skew = Number(process.env.SKEW_MS ?? 0);
const now = Date.now;
Date.now = () => now() + skew;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, self) => Reflect.construct(target, given.length === 0 ? [target.now()] : given, self),
});
