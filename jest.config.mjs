const swc = [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
    swcrc: false,
  },
];
const common = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.ts$': swc },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.holdpoint'],
  moduleNameMapper: {
    '^#(contracts|decider|fold|policy|event-log|read-model|automation|service)/(.*)$': '<rootDir>/libs/$1/src/$2.ts',
    '^#tools/(.*)$': '<rootDir>/tools/$1.mjs',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};
const pure = { ...common, displayName: 'pure', testMatch: ['<rootDir>/{apps,libs,tools,tests}/**/*.spec.ts'] };
const integration = {
  ...common,
  displayName: 'integration',
  testMatch: ['<rootDir>/{apps,libs,tests}/**/*.int-spec.ts'],
  globalSetup: '<rootDir>/tests/support/start-servers.mjs',
  globalTeardown: '<rootDir>/tests/support/stop-servers.mjs',
};
/** Short selections of what `npm run faults`, `fuzz` and `bench` do at length. */
const campaigns = {
  ...common,
  displayName: 'campaigns',
  testMatch: ['<rootDir>/tests/{faults,fuzz,bench}/**/*.e2e-spec.ts'],
};
const e2e = {
  ...common,
  displayName: 'e2e',
  testMatch: ['<rootDir>/tests/**/*.e2e-spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/tests/(faults|fuzz|bench)/'],
};

export default { projects: [pure, integration, e2e, campaigns], workerIdleMemoryLimit: '1GB', testTimeout: 240_000 };
