import { describe, expect, it } from '@jest/globals';
import { accept, nothingToDo, refuse, type Answer } from './decider.js';
import { givenWhenThen } from './given-when-then.js';

type Opened = { readonly type: 'Opened'; readonly by: string };
type No = { readonly reason: 'late' | 'forbidden'; readonly detail: string };

/** A door that is opened once, before noon. */
function decide(by: string, openedBy: string, { hour }: { hour: number }): Answer<Opened, No> {
  if (openedBy === by) return nothingToDo;
  if (openedBy !== '') return refuse({ reason: 'forbidden', detail: `${openedBy} did` });
  return hour < 12 ? accept({ type: 'Opened', by }) : refuse({ reason: 'late', detail: 'It is past noon' });
}
const given = givenWhenThen(expect, { start: '', evolve: (_: string, fact: Opened) => fact.by, decide });
const opened: Opened = { type: 'Opened', by: 'ada' };
const morning = { hour: 9 };

describe('given, when, then', () => {
  it('says what is recorded', () => given().when('ada', morning).then(opened));
  it('says what is refused, and more of it where asked', () => {
    given().when('ada', { hour: 13 }).thenRefused('late');
    given(opened).when('bob', morning).thenRefused('forbidden', { detail: 'ada did' });
  });
  it('says where nothing is to do', () => given(opened).when('ada', morning).thenNothing());
  it('folds the facts in their order', () =>
    given(opened, { ...opened, by: 'bob' })
      .when('bob', morning)
      .thenNothing());

  const recorded = given().when('ada', morning);
  const late = given().when('ada', { hour: 13 });
  const nothing = given(opened).when('ada', morning);
  it.each([
    ['another event', () => recorded.then({ by: 'bob' })],
    ['a refusal for an event', () => late.then(opened)],
    ['nothing for an event', () => nothing.then(opened)],
    ['another reason', () => late.thenRefused('forbidden')],
    ['another detail', () => late.thenRefused('late', { detail: 'It is early' })],
    ['an event for a refusal', () => recorded.thenRefused('late')],
    ['nothing for a refusal', () => nothing.thenRefused('late')],
    ['an event for nothing', () => recorded.thenNothing()],
    ['a refusal for nothing', () => late.thenNothing()],
  ])('does not take %s', (_, then) => expect(then).toThrow());
});
