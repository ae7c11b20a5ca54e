import {
  ApprovalEscalated,
  ApprovalHoldEnded,
  ApprovalVoteCast,
  ApprovalVoteWithdrawn,
  DecisionRefused,
  PolicyEvaluationFailed,
  ToolApprovalDecided,
  ToolApprovalLapsed,
  ToolApprovalRevoked,
  ToolExecutionStarted,
  type ApprovalEvent,
} from './approvals/events.js';
import { ContinueConversation, type ContinuationCommand } from './continuations/events.js';
import { FreezeSwitched, type FreezeEvent } from './freezes/events.js';
import { GrantEnded, GrantIssued, GrantRedeemed, type GrantEvent } from './grants/events.js';
import { PolicyPublished, type PolicyEvent } from './policies/events.js';
import { LogOpened, TokenIssued, TokenRevoked, type LogEvent, type TokenEvent } from './tokens/events.js';
import {
  LeaseExtended,
  LeaseGivenBack,
  ToolApprovalRequested,
  ToolExecutionFailed,
  ToolExecutionSucceeded,
  TurnEnded,
  TurnResumed,
  type TurnEvent,
} from './turns/events.js';

/** Every event of the EVENTS stream. Adding one does not compile until each `evolve` and `project` handles it. */
export type HoldpointEvent = TurnEvent | ApprovalEvent | SettingEvent;
/** What people set, and who may speak: of no turn and no approval the state. */
export type SettingEvent = PolicyEvent | FreezeEvent | GrantEvent | TokenEvent | LogEvent;
/** Everything that is written to a stream. */
export type Written = HoldpointEvent | ContinuationCommand;

type Shapes = { readonly [E in Written as E['type']]: new () => E['data'] };

/** The one table from an event's name to its shape; `ce-type` is `holdpoint.<name>.v1`. */
export const EVENT_SHAPES: Shapes = {
  ToolApprovalRequested,
  TurnResumed,
  LeaseExtended,
  LeaseGivenBack,
  TurnEnded,
  ToolExecutionSucceeded,
  ToolExecutionFailed,
  ApprovalVoteCast,
  ApprovalVoteWithdrawn,
  ApprovalEscalated,
  ApprovalHoldEnded,
  ToolApprovalDecided,
  ToolExecutionStarted,
  ToolApprovalRevoked,
  ToolApprovalLapsed,
  DecisionRefused,
  PolicyEvaluationFailed,
  PolicyPublished,
  FreezeSwitched,
  GrantIssued,
  GrantEnded,
  GrantRedeemed,
  TokenIssued,
  TokenRevoked,
  LogOpened,
  ContinueConversation,
};

const SETTINGS: { readonly [Type in SettingEvent['type']]: true } = {
  PolicyPublished: true,
  FreezeSwitched: true,
  GrantIssued: true,
  GrantEnded: true,
  GrantRedeemed: true,
  TokenIssued: true,
  TokenRevoked: true,
  LogOpened: true,
};

export const isSetting = (event: HoldpointEvent): event is SettingEvent => Object.hasOwn(SETTINGS, event.type);

export const isEventType = (name: string): name is Written['type'] => Object.hasOwn(EVENT_SHAPES, name);
