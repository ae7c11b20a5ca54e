/** Which room may know which (ARCHITECTURE.md, Boundaries). */
const pureCode =
  '(^|/)(domain|projections)/(?!.*(query|migrations))[^/]+\\.ts$|/domain/.*\\.ts$|\\.projection\\.ts$|^libs/(contracts|decider|fold|policy)/';
export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-app-to-app',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    { name: 'no-lib-to-app', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'decider-imports-nothing',
      severity: 'error',
      from: { path: '^libs/decider/', pathNot: 'spec\\.ts$' },
      to: { path: '^(libs/(?!decider)|apps/)' },
    },
    {
      name: 'contracts-know-no-other-lib',
      severity: 'error',
      from: { path: '^libs/contracts/' },
      to: { path: '^(libs/(?!contracts)|apps/)' },
    },
    {
      name: 'sdk-stands-alone',
      severity: 'error',
      comment: 'What runs in the processes of others takes nothing of ours with it, and runs where there is no Node.',
      from: { path: '^libs/sdk/' },
      to: { path: '^(libs/(?!sdk)|apps/|node:)' },
    },
    {
      name: 'fold-is-pure',
      severity: 'error',
      from: { path: '^libs/fold/' },
      to: { path: '^(libs/(?!contracts|decider|fold)|apps/)' },
    },
    {
      name: 'policy-is-pure',
      severity: 'error',
      from: { path: '^libs/policy/' },
      to: { path: '^(libs/(?!contracts|decider|fold|policy)|apps/)' },
    },
    {
      name: 'pure-code-does-no-io',
      severity: 'error',
      comment: 'domain/, *.projection.ts and the libs they stand on decide and compute; the loops read and write.',
      from: {
        path: '/domain/.*\\.ts$|\\.projection\\.ts$|^libs/(contracts|decider|fold|policy)/src/',
        pathNot: 'spec\\.ts$',
      },
      to: {
        path: '^(node:)?(fs|net|http|https|child_process|dgram|tls|timers|worker_threads)(/|$)|node_modules/(@nats-io|pg|typeorm|@nestjs|fastify|pino)/|^libs/(service|read-model|automation)/',
      },
    },
    {
      name: 'pure-code-knows-rules-not-logs',
      severity: 'error',
      comment: 'A rule may name its type (handle-command) but not open a log.',
      from: { path: '/domain/.*\\.ts$|\\.projection\\.ts$', pathNot: 'spec\\.ts$' },
      to: { path: '^libs/event-log/src/(?!handle-command)' },
    },
    {
      name: 'no-feature-to-feature',
      severity: 'error',
      from: { path: '^apps/(orchestrator|approval-service)/src/([^/]+)/' },
      to: {
        path: '^apps/(orchestrator|approval-service)/src/([^/]+)/',
        pathNot: ['^apps/[^/]+/src/$2/', '^apps/[^/]+/src/projections/'],
      },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['types', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
