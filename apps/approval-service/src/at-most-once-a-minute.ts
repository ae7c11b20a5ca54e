const MINUTE_MS = 60_000;

/** An outage is said once a minute, not once a second. */
export function atMostOnceAMinute(
  say: (error: unknown) => void,
  now: () => number = Date.now,
): (error: unknown) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (now() < quietUntil) return;
    quietUntil = now() + MINUTE_MS;
    say(error);
  };
}
