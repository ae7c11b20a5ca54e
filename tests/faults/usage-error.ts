/** Whoever started it asked for something that there is not. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
