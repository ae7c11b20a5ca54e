/** The write may have happened or not, and may safely be tried again: 503 with `recorded: unknown`. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}
