import type { Answer, Decide } from './decider.js';

/** The test runner's `expect`, as far as the kit needs it: given by the spec, so that this file stands on nothing. */
export type Expect = (actual: unknown) => {
  toMatchObject(expected: Record<string, unknown>): void;
  toEqual(expected: unknown): void;
};

/** A rule with the fold under it. */
export interface Decider<Fact, State, Command, Context, Event, Refusal> {
  readonly start: State;
  readonly evolve: (state: State, fact: Fact) => State;
  readonly decide: Decide<Command, State, Context, Event, Refusal>;
}

/** What a spec says of an answer. Named parts of the event or refusal are compared; what is not named may be anything. */
export interface Then<Event, Refusal extends { readonly reason: string }> {
  readonly then: (event: PartOf<Event>) => void;
  readonly thenRefused: (reason: Refusal['reason'], more?: PartOf<Refusal>) => void;
  readonly thenNothing: () => void;
  readonly answer: Answer<Event, Refusal>;
}

/** Its fields, or matchers in their place. */
type PartOf<Whole> = { readonly [Field in keyof Whole]?: unknown };

export function answered<Event, Refusal extends { readonly reason: string }>(
  expect: Expect,
  answer: Answer<Event, Refusal>,
): Then<Event, Refusal> {
  return {
    answer,
    then: (event) => expect(answer).toMatchObject({ kind: 'accept', event }),
    thenRefused: (reason, more) => expect(answer).toMatchObject({ kind: 'refuse', refusal: { ...more, reason } }),
    thenNothing: () => expect(answer).toEqual({ kind: 'nothing-to-do' }),
  };
}

/** `given(facts).when(command, context).then(event)`: one line a rule. */
export const givenWhenThen =
  <Fact, State, Command, Context, Event, Refusal extends { readonly reason: string }>(
    expect: Expect,
    { start, evolve, decide }: Decider<Fact, State, Command, Context, Event, Refusal>,
  ) =>
  (...facts: readonly Fact[]) => ({
    when: (command: Command, context: Context): Then<Event, Refusal> =>
      answered(expect, decide(command, facts.reduce(evolve, start), context)),
  });
