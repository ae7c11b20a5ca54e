import tseslint from 'typescript-eslint';

/** What must never be published, and by whom: see docs/decisions. */
const logOnly = [
  {
    selector: "CallExpression[callee.property.name='publish'][callee.object.name=/^(nc|connection|nats)$/]",
    message:
      'A fact is published by libs/event-log alone: a core publish is lost without a word while the broker is away.',
  },
  {
    selector: "CallExpression[callee.property.name='publish'][callee.object.property.name='connection']",
    message:
      'A fact is published by libs/event-log alone: a core publish is lost without a word while the broker is away.',
  },
  {
    selector: 'Property[key.name=/^(msgID|lastSubjectSequenceSubject|lastMsgID|schedule|ttl)$/]',
    message: 'These headers break the promise of the log (ARCHITECTURE.md, the log).',
  },
  {
    selector: "CallExpression[callee.property.name='startBatch']",
    message: "The client's batch drops the guard silently.",
  },
  {
    selector: 'Literal[value=/^Nats-/i]',
    message: 'Only the guard of the log is sent, and the client library spells it.',
  },
];
const publishing = [
  ...logOnly,
  {
    selector: "CallExpression[callee.property.name='publish']",
    message: 'A fact is published by libs/event-log alone, through Log.append.',
  },
];

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '.holdpoint*/**', 'coverage/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: './tsconfig.json',
        tsconfigRootDir: import.meta.dirname,
        emitDecoratorMetadata: true,
        experimentalDecorators: true,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/consistent-type-imports': 'off',
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'max-lines-per-function': ['error', { max: 45, skipBlankLines: true, skipComments: true }],
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': [
        'error',
        ...publishing,
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'ExportAllDeclaration', message: 'No barrels: import the file.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'The environment is read in libs/service/src/settings.ts.' },
      ],
    },
  },
  { files: ['libs/service/src/settings.ts'], rules: { 'no-restricted-properties': 'off' } },
  { files: ['libs/event-log/src/jetstream-log.ts'], rules: { 'no-restricted-syntax': ['error', ...logOnly] } },
  {
    files: ['**/*spec.ts', 'tests/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': 'off',
    },
  },
  {
    // What comes back over HTTP is JSON of any shape until a test has looked at it.
    files: ['tests/**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
