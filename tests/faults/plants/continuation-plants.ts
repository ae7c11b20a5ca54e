import type { Plant } from './plant.js';

const RECONCILER_OFF = {
  file: 'apps/gateway/src/loops.ts',
  find: "    { name: 'reconcile', run: (signal) => reconcileUntil({ ...due, events, readyTurnKeys: ready, report }, signal) },\n",
  replace: '',
} as const;

const KILLED = { kind: 'kill-at', service: 'gateway', step: 'before-append:ContinueConversation' } as const;

/** Faults in how a decided turn comes to go on: never, too early, or twice. */
export const CONTINUATION_PLANTS: readonly Plant[] = [
  {
    name: 'acknowledged-before-done',
    what: 'A decision is acknowledged before its continuation is written, and nothing looks for what was left lying.',
    changes: [
      {
        file: 'libs/automation/src/run-automation.ts',
        find: '    const work = reactTo(delivery, react).then(\n      () => delivery.ack(),\n',
        replace: '    delivery.ack();\n    const work = reactTo(delivery, react).then(\n      () => undefined,\n',
      },
      RECONCILER_OFF,
    ],
    foundBy: ['I4', 'I6'],
    during: [KILLED],
  },
  {
    name: 'continued-too-early',
    what: 'A turn may go on as soon as one of its calls is decided.',
    changes: [
      {
        file: 'libs/fold/src/status.ts',
        find: "  approvals.every(turn.request.release === 'all' ? isDecided : isClosed);",
        replace: "  approvals.some(turn.request.release === 'all' ? isDecided : isClosed);",
      },
    ],
    foundBy: ['I4'],
  },
  {
    name: 'continued-by-each-fact',
    what: 'Each fact that closes a call writes a continuation of its own, under a subject of its own.',
    changes: [
      {
        file: 'apps/gateway/src/continuations/publish-command.ts',
        find: '    subject: continuationSubject(tenant, command),',
        replace: "    subject: `${continuationSubject(tenant, command)}.${shortDigest('cause', causationId)}`,",
      },
      {
        file: 'libs/event-log/src/codec.ts',
        find: '  if (raw.subject !== rightSubject(fact)) throw',
        replace: '  if (!raw.subject.startsWith(rightSubject(fact))) throw',
      },
      {
        file: 'apps/orchestrator/src/turns/domain/resume-turn.ts',
        find: 'commands.last(subjects.continuationInAnyPool(tenant, turnKeyOfLease(key), key))',
        replace: 'commands.last(`${subjects.continuationInAnyPool(tenant, turnKeyOfLease(key), key)}.>`)',
      },
    ],
    foundBy: ['I1'],
  },
  {
    name: 'superseded-turn-goes-on',
    what: 'A turn whose place another took is cancelled only where a worker has it.',
    changes: [
      {
        file: 'apps/orchestrator/src/turns/domain/end-turn.ts',
        find: "if (turn.state === 'unknown' || turn.end) return nothingToDo;",
        replace: "if (turn.state === 'unknown' || turn.end || turn.lease.state === 'never-taken') return nothingToDo;",
      },
    ],
    foundBy: ['I6'],
    focus: { plots: { supersede: 20 } },
  },
];
