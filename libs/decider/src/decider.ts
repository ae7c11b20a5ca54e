/** What a command's author gets back: an event to record, nothing to do (it is so already), or a refusal with its reason. */
export type Answer<Event, Refusal> =
  | { readonly kind: 'accept'; readonly event: Event }
  | { readonly kind: 'nothing-to-do' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/** A pure rule: what a command achieves, given what the log says. No clock, id, log or await inside: they come in the context. */
export type Decide<Command, State, Context, Event, Refusal> = (
  command: Command,
  state: State,
  context: Context,
) => Answer<Event, Refusal>;

export const accept = <Event>(event: Event): Answer<Event, never> => ({ kind: 'accept', event });
export const refuse = <Refusal>(refusal: Refusal): Answer<never, Refusal> => ({ kind: 'refuse', refusal });
export const nothingToDo: Answer<never, never> = { kind: 'nothing-to-do' };

/** Ends every switch over a union: a forgotten case does not compile, an unknown one from a newer version throws. */
export function unreachable(value: never): never {
  throw new Error(`Not a known case: ${JSON.stringify(value)}`);
}
