import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Log } from '#event-log/log';
import { factsOf, STEPS, WRITER, type Step } from './story.js';
import type { LogStack } from './stack.js';

/** Turns that are written side by side, and how many such groups wait for their decision: a thousand turns. */
const GROUP = 100;
const GROUPS_WAITING = 10;

/** Writes turns as the services do, cause before effect, until there are so many facts; returns the log's last sequence. */
export async function fillLog(stack: LogStack, events: number): Promise<number> {
  const brokers = {
    orchestrator: await stack.as('orchestrator'),
    'approval-service': await stack.as('approval-service'),
  };
  const writers = { orchestrator: brokers.orchestrator.events, 'approval-service': brokers['approval-service'].events };
  let left = events;
  for (const [group, step] of groupedSteps()) {
    const facts = turnsOf(group)
      .flatMap((turn) => factsOf(turn, step))
      .slice(0, left);
    await appendAll(writers[WRITER[step]], facts);
    left -= facts.length;
    if (left === 0) break;
  }
  return (await brokers.orchestrator.events.state()).lastSeq;
}

/** A group is asked for, and then the one that was asked for long before is decided and goes its way. */
function* groupedSteps(): Generator<readonly [number, Step]> {
  for (let group = 0; ; group++) {
    yield [group, 'requested'];
    if (group >= GROUPS_WAITING) for (const step of STEPS.slice(1)) yield [group - GROUPS_WAITING, step];
  }
}

const turnsOf = (group: number): number[] => Array.from({ length: GROUP }, (_, index) => group * GROUP + index);

async function appendAll(log: Log, facts: readonly Fact<HoldpointEvent>[]): Promise<void> {
  const appended = await Promise.all(facts.map((fact) => log.append(fact)));
  const lost = appended.find(({ is }) => is !== 'stored');
  if (lost) throw new Error(`A fact was not stored: ${JSON.stringify(lost)}`);
}
