import type { Plant } from './plant.js';

const DECIDE = 'apps/approval-service/src/approvals/domain/decide-approval.ts';
const USE = 'apps/approval-service/src/approvals/domain/use-approval.ts';

/** Faults in what is allowed: who may decide until when, and who may run what. */
export const RULE_PLANTS: readonly Plant[] = [
  {
    name: 'deadlines-not-swept',
    what: 'Nothing writes what a deadline has made of an approval.',
    changes: [
      {
        file: 'apps/approval-service/src/approvals/approvals.module.ts',
        find: 'sweep(judging, due, logger),',
        replace: 'sweep(judging, { ...due, dueBy: () => Promise.resolve([]) }, logger),',
      },
    ],
    foundBy: ['I6'],
    focus: { plots: { expire: 20 } },
  },
  {
    name: 'decided-too-late',
    what: 'A person can still decide when the deadline has passed.',
    changes: [
      {
        file: DECIDE,
        find: '  if (now >= deadline && !closingOf(approval.steps))\n',
        replace: "  if (deadline === '' && !closingOf(approval.steps))\n",
      },
    ],
    foundBy: ['I5'],
    focus: { plots: { expire: 60 } },
  },
  {
    name: 'own-request-approved',
    what: 'Who asked for a call can approve it.',
    changes: [
      {
        file: 'libs/policy/src/may-decide.ts',
        find: 'if (isOwnRequest(who.subject, turn))',
        replace: "if (isOwnRequest('', turn))",
      },
    ],
    foundBy: ['I5'],
    focus: { fates: { own: 20 } },
  },
  {
    name: 'unseen-arguments-approved',
    what: 'An approval counts for other arguments than the approver saw.',
    changes: [
      {
        file: DECIDE,
        find: '  if (command.argsDigest !== undefined && command.argsDigest !== call.argsDigest)\n',
        replace: '  if (edit && command.argsDigest !== undefined && command.argsDigest !== call.argsDigest)\n',
      },
    ],
    foundBy: ['I2'],
    focus: { fates: { 'other-arguments': 20 } },
  },
  {
    name: 'edit-lost',
    what: 'An approval with other arguments is recorded without them.',
    changes: [
      {
        file: DECIDE,
        find: '    ...(edit === undefined ? {} : { editedArgs: edit.args, argsDigest: edit.digest }),\n',
        replace: '',
      },
    ],
    foundBy: ['I2'],
    focus: { fates: { edit: 20 } },
  },
  {
    name: 'edit-not-handed-on',
    what: 'The worker is given the arguments that were asked for, not those that were approved.',
    changes: [
      {
        file: 'libs/fold/src/continuation.ts',
        find: '    args: decision.editedArgs ?? call.args,',
        replace: '    args: call.args,',
      },
    ],
    foundBy: ['I2'],
    focus: { fates: { edit: 20 } },
  },
  {
    name: 'any-arguments-run',
    what: 'The right to run is given for whatever arguments the worker names.',
    changes: [
      {
        file: USE,
        find: '  if (argsDigest !== approval.decision?.argsDigest)\n',
        replace: "  if (argsDigest === '')\n",
      },
    ],
    foundBy: ['I5'],
    focus: { manners: { 'other-arguments': 60 } },
  },
  {
    name: 'unapproved-runs',
    what: 'The right to run is given for a call that was decided, whatever the decision.',
    changes: [
      {
        file: USE,
        find: "  if (decision.is !== 'approved') return no('superseded', `It was ${decision.is}`, { winner: winnerOf(decision) });\n",
        replace: '',
      },
    ],
    foundBy: ['I5'],
    focus: { fates: { deny: 20 } },
  },
  {
    name: 'stale-attempt-runs',
    what: 'The right to run is given to a worker whose attempt another has followed.',
    changes: [
      {
        file: USE,
        find: '  if (!isHeldBy(lease, { attempt, workerId, tokenId: caller.tokenId }))\n',
        replace: "  if (lease.state === 'never-taken')\n",
      },
    ],
    foundBy: ['I5'],
    focus: { manners: { 'is-intruded': 60 } },
  },
  {
    name: 'anybody-reports',
    what: 'An outcome is taken from a worker that did not begin the tool.',
    changes: [
      {
        file: 'apps/orchestrator/src/turns/domain/report-outcome.ts',
        find: '  if (use.attempt === attempt && use.workerId === workerId && use.tokenId === tokenId) {\n',
        replace: '  if (use.tokenId === tokenId) {\n',
      },
    ],
    foundBy: ['I2'],
    focus: { manners: { 'is-intruded': 60 } },
  },
  {
    name: 'taken-while-held',
    what: 'A continuation can be taken while the lease of another worker runs.',
    changes: [
      {
        file: 'apps/orchestrator/src/turns/domain/resume-turn.ts',
        find: "    (isAlive(lease, now) ? taken('Another worker has it until its lease is over') : undefined) ??\n",
        replace: '',
      },
    ],
    foundBy: ['I1'],
    focus: { manners: { 'two-takers': 60 } },
  },
  {
    name: 'anybody-extends',
    what: 'A lease is extended for whoever asks.',
    changes: [
      {
        file: 'apps/orchestrator/src/turns/domain/hold-lease.ts',
        find: '  return isHeldBy(lease, { attempt, workerId, tokenId: caller.tokenId })\n',
        replace:
          '  return lease.attempt === attempt || isHeldBy(lease, { attempt, workerId, tokenId: caller.tokenId })\n',
      },
    ],
    foundBy: ['I2'],
    focus: { manners: { 'is-intruded': 60 } },
  },
  {
    name: 'cancel-leaves-calls',
    what: 'Of a turn that was cancelled only the first call is closed.',
    changes: [
      {
        file: 'apps/approval-service/src/approvals/close-turn-approvals.ts',
        find: '  const requests = turn.request.toolCalls.map((_, index) =>',
        replace: '  const requests = turn.request.toolCalls.slice(0, 1).map((_, index) =>',
      },
    ],
    foundBy: ['I2'],
    focus: { plots: { 'cancel-early': 20 } },
  },
];
