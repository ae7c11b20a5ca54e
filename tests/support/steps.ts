import type { ServiceName } from './world.js';

/** What is told while a service waits to be ended at a step; `run` comes to most of them. */
export type StepStory = 'run' | 'each' | 'revoke' | 'cancel' | 'expire';
export type NamedStep = readonly [service: ServiceName, step: string, story: StepStory];

/** Every step at which a service hands something on: before it, and after it. */
const APPENDS: readonly NamedStep[] = [
  ['orchestrator', 'ToolApprovalRequested', 'run'],
  ['approval-service', 'ToolApprovalDecided', 'run'],
  ['gateway', 'ContinueConversation', 'run'],
  ['orchestrator', 'TurnResumed', 'run'],
  ['approval-service', 'ToolExecutionStarted', 'run'],
  ['orchestrator', 'ToolExecutionSucceeded', 'run'],
  ['orchestrator', 'TurnEnded', 'run'],
  ['approval-service', 'ToolApprovalRevoked', 'revoke'],
  ['orchestrator', 'TurnEnded', 'cancel'],
  ['approval-service', 'ToolApprovalDecided', 'cancel'],
  ['approval-service', 'ToolApprovalDecided', 'expire'],
  ['gateway', 'ContinueConversation', 'each'],
  ['orchestrator', 'TurnResumed', 'each'],
];
const REPLIES: readonly NamedStep[] = [
  ['orchestrator', 'before-reply:OpenTurn', 'run'],
  ['approval-service', 'before-reply:DecideApproval', 'run'],
  ['orchestrator', 'before-reply:ResumeTurn', 'run'],
  ['approval-service', 'before-reply:UseApproval', 'run'],
  ['gateway', 'before-answer:/v1/turns', 'run'],
  ['gateway', 'before-answer:/decision', 'run'],
  ['gateway', 'before-answer:/pull', 'run'],
  ['gateway', 'before-answer:/resume', 'run'],
  ['gateway', 'before-answer:/use', 'run'],
  ['gateway', 'before-answer:/cancel', 'cancel'],
  ['gateway', 'before-ack', 'run'],
  ['gateway', 'after-ack', 'run'],
  ['approval-service', 'before-ack', 'cancel'],
  ['approval-service', 'after-ack', 'cancel'],
  ['orchestrator', 'before-ack', 'run'],
  ['approval-service', 'before-commit', 'run'],
  ['approval-service', 'after-commit', 'run'],
];

/** The named steps of the crash tests and of the fault campaign. */
export const NAMED_STEPS: readonly NamedStep[] = [
  ...APPENDS.flatMap(([service, type, story]): NamedStep[] => [
    [service, `before-append:${type}`, story],
    [service, `after-append:${type}`, story],
  ]),
  ...REPLIES,
];
