import type { Plant } from './plant.js';

const APPLY = 'libs/read-model/src/apply-batch.ts';

/** Faults in what Postgres is told of the log. */
export const READ_MODEL_PLANTS: readonly Plant[] = [
  {
    name: 'checkpoint-before-rows',
    what: 'The checkpoint moves in a transaction of its own, before the rows are there.',
    changes: [
      { file: APPLY, find: 'function apply(\n  client', replace: 'async function apply(\n  client' },
      {
        file: APPLY,
        find: '  return inTransaction(client, async () => {\n    let waiting',
        replace:
          '  await inTransaction(client, async () => {\n    await holdCheckpoint(client, from);\n    await moveCheckpoint(client, from, to);\n  });\n' +
          '  return inTransaction(client, async () => {\n    let waiting',
      },
      {
        file: APPLY,
        find: '      () => holdCheckpoint(client, from),\n      () => moveCheckpoint(client, from, to),\n',
        replace: '',
      },
    ],
    foundBy: ['I3', 'I6', 'I7'],
    during: [{ kind: 'kill-at', service: 'approval-service', step: 'after-commit' }],
  },
  {
    name: 'older-row-wins',
    what: 'Where two facts of a batch are about one row, the older one wins.',
    changes: [
      {
        file: 'libs/read-model/src/merge.ts',
        find: 'if (put[column] !== undefined) row[column] = put[column];',
        replace: 'if (put[column] !== undefined && row[column] === undefined) row[column] = put[column];',
      },
    ],
    foundBy: ['I3'],
    // What happened while the projector was away is one batch.
    during: [
      { kind: 'kill-at', service: 'approval-service', step: 'before-commit' },
      { kind: 'kill-at', service: 'approval-service', step: 'before-commit' },
    ],
    focus: { plots: { 'cancel-early': 60 } },
  },
  {
    name: 'fact-skipped',
    what: 'That a tool failed is not projected.',
    changes: [
      {
        file: 'apps/approval-service/src/projections/approvals/approvals.projection.ts',
        find: "    case 'ToolExecutionFailed':\n      return put(fact, event.data.approvalId, outcome(fact, event));\n",
        replace:
          "      return put(fact, event.data.approvalId, outcome(fact, event));\n    case 'ToolExecutionFailed':\n      return [];\n",
      },
    ],
    foundBy: ['I3'],
  },
  {
    name: 'links-not-chained',
    what: 'Each fact is chained to where the projector began, not to the fact before it.',
    changes: [
      {
        file: 'libs/read-model/src/links.ts',
        find: '    last = { lastSeq: raw.seq, chain: link.hash, policies: link.policies };\n',
        replace: '    last = { lastSeq: raw.seq, chain: from.chain, policies: link.policies };\n',
      },
    ],
    foundBy: ['I6', 'I7'],
  },
  {
    name: 'deadline-forgotten',
    what: 'Only the second call of a turn, and those after it, have a deadline.',
    changes: [
      {
        file: 'apps/approval-service/src/projections/due/due.projection.ts',
        find: '(call, index) => asked(fact, event.data, { call, index }, policies)',
        replace: '(call, index) => (index === 0 ? [] : asked(fact, event.data, { call, index }, policies))',
      },
    ],
    foundBy: ['I3', 'I6'],
    focus: { plots: { expire: 20 } },
  },
];
