import type { SwitchFreeze } from '#contracts/freezes/commands';
import { MOST_SWITCHES } from '#contracts/freezes/events';
import type { HoldpointEvent } from '#contracts/events';
import { refusal, type Refusal } from '#contracts/refusals';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readFreezes, type Freezes } from '#fold/freezes';

/** On again where it is on, or off where it is off, is nothing new. */
export function switchFreeze(command: SwitchFreeze, { count, on }: Freezes): Answer<HoldpointEvent, Refusal> {
  const isOn = on.some(({ tool, agent }) => tool === command.tool && agent === command.agent);
  if (isOn === command.on) return nothingToDo;
  if (count >= MOST_SWITCHES) return refuse(refusal('conflict', 'It was switched more often than can be counted'));
  return accept({ type: 'FreezeSwitched', data: { ...command, n: count + 1 } });
}

export const switching: Rule<SwitchFreeze, Freezes, object> = {
  read: readFreezes,
  decide: switchFreeze,
  correlate: () => 'freeze',
};
