import type { Plant } from './plant.js';

const LOG = 'libs/event-log/src/jetstream-log.ts';

/** Longer than a publish waits for its answer, shorter than a client does. */
const PAUSE = { kind: 'broker-pause', forMs: 2_600 } as const;

/** Faults in how a fact gets into the log: who was first, and whether it was stored at all. */
export const LOG_PLANTS: readonly Plant[] = [
  {
    name: 'guard-dropped',
    what: 'An append expects nothing of its subject, and the streams keep any number of facts a subject.',
    changes: [
      {
        file: LOG,
        find: 'const expect = { lastSubjectSequence: 0, streamName: this.options.stream };',
        replace: 'const expect = { streamName: this.options.stream };',
      },
      {
        file: 'libs/event-log/src/bootstrap.ts',
        find: '    max_msgs_per_subject: 1,\n    discard_new_per_subject: true,\n',
        replace: '    max_msgs_per_subject: -1,\n    discard_new_per_subject: false,\n',
      },
    ],
    foundBy: ['I1'],
    focus: { plots: { run: 100 }, fates: { race: 60 } },
  },
  {
    name: 'conflict-taken-for-won',
    what: 'A subject that is taken counts as stored, without looking whose fact is there.',
    changes: [
      {
        file: LOG,
        find: "      case WRONG_LAST_SEQUENCE:\n        return { is: 'taken' };",
        replace:
          "      case WRONG_LAST_SEQUENCE:\n        return { is: 'stored', seq: (await this.last(subject))?.seq ?? 0 };",
      },
    ],
    foundBy: ['I2'],
    focus: { plots: { run: 100 }, fates: { race: 60 } },
  },
  {
    name: 'no-answer-taken-for-stored',
    what: 'Where the broker did not answer in time, the fact counts as stored.',
    changes: [
      {
        file: LOG,
        find: "if (isOutage(error)) return { is: 'unclear', why: messageOf(error) };",
        replace: "if (isOutage(error)) return { is: 'stored', seq: 0 };",
      },
    ],
    foundBy: ['I2'],
    during: [PAUSE, PAUSE, PAUSE, PAUSE, PAUSE],
  },
  {
    name: 'answered-before-stored',
    what: 'The caller is answered while the fact is still on its way to the log.',
    changes: [
      {
        file: 'libs/event-log/src/handle-command.ts',
        find: '  const appended = await log.append(fact);\n',
        replace:
          "  const appended = { is: 'stored', seq: (await log.state()).lastSeq + 1 } as Awaited<ReturnType<Log['append']>>;\n" +
          '  void log.append(fact).catch(() => undefined);\n',
      },
    ],
    foundBy: ['I2'],
    focus: { plots: { run: 100 }, fates: { race: 60 } },
  },
  {
    name: 'request-key-ignored',
    what: 'The same request sent again under its Idempotency-Key opens another turn.',
    changes: [
      {
        file: 'apps/orchestrator/src/turns/handlers.ts',
        find: "function madeTurnId({ tenant, actor, idempotencyKey }: Asked<OpenTurn>): string {\n  return `t_${shortDigest('turn-id', tenant, actor.id, idempotencyKey ?? randomUUID())}`;",
        replace:
          "function madeTurnId({ tenant, actor }: Asked<OpenTurn>): string {\n  return `t_${shortDigest('turn-id', tenant, actor.id, randomUUID())}`;",
      },
    ],
    foundBy: ['I2'],
  },
];
