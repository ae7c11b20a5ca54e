import type { Plant } from './plant.js';

const APPROVALS = 'apps/approval-service/src/approvals';
const FOLLOW = `${APPROVALS}/automations/when-approval-requested-then-follow-precedent.ts`;
const REDEEM = `${APPROVALS}/domain/redeem-grant.ts`;
const DENY_AGAIN = `${APPROVALS}/domain/deny-again.ts`;
const FIND = 'apps/approval-service/src/projections/precedents/precedents.query.ts';
const COVERS = 'libs/policy/src/grants.ts';

/** Many calls that grants are for, and many grants. */
const GRANTS = { plots: { run: 60 }, fates: { remember: 20, wait: 60 } } as const;
const DENIALS = { plots: { run: 60 }, fates: { deny: 40 } } as const;

const NOT_TAKEN_BACK = {
  file: `${APPROVALS}/automations/when-grant-ended-then-revoke-approvals.ts`,
  find: "    if (fact.event.type === 'GrantEnded') await revokeAll(services, fact, fact.event.data.grantId);\n",
  replace: '    void fact;\n',
};
const NOT_LOOKED_AGAIN = {
  file: FOLLOW,
  find: '  if (over) await takeBackGranted(services, over, approvalId);\n',
  replace: '  void over;\n',
};

/** Faults in what was said before: what a grant approves, what its end ends, and which denial answers a call. */
export const GRANT_PLANTS: readonly Plant[] = [
  {
    name: 'grant-used-too-often',
    what: 'Nobody looks at how often a grant may be used.',
    changes: [
      {
        file: 'libs/fold/src/grant.ts',
        find: "return used >= maxUses ? 'used-up' : 'active';",
        replace: "return maxUses === 0 ? 'used-up' : 'active';",
      },
      { file: FIND, find: ' AND g.used < g.max_uses', replace: '' },
    ],
    foundBy: ['I5'],
    focus: GRANTS,
  },
  {
    name: 'grant-use-not-taken',
    what: 'A grant approves without a use of it having been taken.',
    changes: [
      {
        file: FOLLOW,
        find: 'await services.queue.run(grant.grantId, () => redeem(services, granting));',
        replace: 'await Promise.resolve<number | undefined>(grant.used + 1);',
      },
    ],
    foundBy: ['I5'],
    focus: GRANTS,
  },
  {
    name: 'grant-uses-skipped',
    what: 'Of the uses of a grant every other is left out.',
    changes: [{ file: REDEEM, find: 'n: grant.used + 1', replace: 'n: grant.used + 2' }],
    foundBy: ['I1'],
    focus: GRANTS,
  },
  {
    name: 'grant-use-taken-twice',
    what: 'A use that was taken for the same approval before is not looked for.',
    changes: [{ file: REDEEM, find: 'if (!grant || mine || grantStatus', replace: 'if (!grant || grantStatus' }],
    foundBy: ['I1'],
    // Only what is on the shelf is left alone for long enough.
    focus: { fates: { remember: 0, wait: 0 } },
    during: [
      { kind: 'kill-at', service: 'approval-service', step: 'after-append:GrantRedeemed' },
      { kind: 'kill-at', service: 'approval-service', step: 'after-append:GrantRedeemed' },
      { kind: 'kill-at', service: 'approval-service', step: 'after-append:GrantRedeemed' },
    ],
  },
  {
    name: 'remembered-never-given',
    what: 'What was remembered with a decision never becomes a grant.',
    changes: [
      {
        file: 'apps/approval-service/src/grants/automations/when-approval-decided-then-issue-grant.ts',
        find: "if (event.type !== 'ToolApprovalDecided' || !event.data.remember) return;",
        replace: "if (event.type !== 'ToolApprovalDecided' || !event.data.remember?.scope.agent) return;",
      },
    ],
    foundBy: ['I6'],
    focus: GRANTS,
  },
  {
    name: 'grant-of-another-conversation',
    what: 'A grant for one conversation approves calls of every other.',
    changes: [
      {
        file: COVERS,
        find: 'const { agent = request.agent.id, conversationId = request.conversationId, when } = scope;',
        replace: 'const { agent = request.agent.id, when } = scope;\n  const { conversationId } = request;',
      },
      {
        file: FIND,
        find: '            AND (g.conversation_id IS NULL OR g.conversation_id = asked.conversation_id)\n',
        replace: '',
      },
    ],
    foundBy: ['I5'],
    focus: GRANTS,
  },
  {
    name: 'grant-for-own-calls',
    what: 'A grant approves what its grantor asked for themselves.',
    changes: [
      {
        file: COVERS,
        find: "  if (mayNotDecide({ turn, ruling, approval: NEW_APPROVAL }, grantor, 'allow-others')) return false;\n",
        replace: '  void [grantor, turn, mayNotDecide, NEW_APPROVAL];\n',
      },
    ],
    foundBy: ['I5'],
    focus: GRANTS,
  },
  {
    name: 'ended-grant-not-taken-back',
    what: 'What a grant approved before its end stays approved.',
    changes: [NOT_TAKEN_BACK, NOT_LOOKED_AGAIN],
    foundBy: ['I6'],
    focus: GRANTS,
  },
  {
    name: 'ended-grant-runs',
    what: 'What a grant approved can be run after its end until it is taken back, which takes its time.',
    changes: [
      { file: `${APPROVALS}/domain/use-approval.ts`, find: '    withoutGrant(known) ??\n', replace: '' },
      {
        ...NOT_TAKEN_BACK,
        replace: `    await new Promise((done) => setTimeout(done, 3_000));\n${NOT_TAKEN_BACK.find}`,
      },
    ],
    foundBy: ['I5'],
    focus: GRANTS,
  },
  {
    name: 'denial-of-another-conversation',
    what: 'A call is denied because somebody denied it in another conversation.',
    changes: [
      {
        file: DENY_AGAIN,
        find: '    before.request.conversationId === turn.request.conversationId &&\n',
        replace: '',
      },
      { file: FIND, find: 'a.conversation_id = asked.conversation_id AND ', replace: '' },
    ],
    foundBy: ['I5'],
    focus: DENIALS,
  },
  {
    name: 'denied-again-without-reason',
    what: 'A denial is repeated without what the person said.',
    changes: [
      {
        file: DENY_AGAIN,
        find: 'const reason = earlier.reason === undefined ? {} : { reason: earlier.reason };',
        replace: 'const reason = {};',
      },
    ],
    foundBy: ['I5'],
    focus: DENIALS,
  },
  {
    name: 'denied-though-to-be-asked-again',
    what: 'A denial is repeated where the policy wants people asked again.',
    changes: [{ file: DENY_AGAIN, find: ' || known.ruling.requirement.askAgainAfterDenial', replace: '' }],
    foundBy: ['I5'],
    focus: DENIALS,
  },
  {
    name: 'everything-runs-again',
    what: 'A call that must run once is free for the next attempt, whatever the policy says.',
    changes: [
      {
        file: 'libs/policy/src/run-again.ts',
        find: 'return ruleOn(policy, turn.request, { ...call, args }).idempotent;',
        replace: "return ruleOn(policy, turn.request, { ...call, args }).effect !== 'deny';",
      },
    ],
    foundBy: ['I1', 'I2', 'I5'],
    focus: { plots: { run: 60 }, manners: { 'dies-after-run': 60 } },
  },
];
