import { getMetadataStorage, type ValidationArguments } from 'class-validator';

type Test = (value: unknown, holder: object) => boolean;
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

interface FieldRules {
  readonly field: string;
  /** Where one of these says no, the field is not looked at. */
  readonly conditions: readonly Test[];
  readonly tests: readonly Test[];
}

const compiled = new Map<object, readonly FieldRules[]>();

/**
 * Whether class-validator would find nothing wrong with an instance: its own constraints, looked up once a class instead of
 * at every call. It says no more than that; the words for what is wrong come from class-validator itself.
 */
export function isValid(instance: object): boolean {
  const rules = rulesOf(instance.constructor);
  return rules.length > 0 && rules.every((rule) => isFieldValid(rule, instance));
}

function isFieldValid({ field, conditions, tests }: FieldRules, instance: object): boolean {
  const value: unknown = (instance as Record<string, unknown>)[field];
  return !conditions.every((holds) => holds(value, instance)) || tests.every((passes) => passes(value, instance));
}

function rulesOf(shape: NonNullable<unknown>): readonly FieldRules[] {
  const known = compiled.get(shape);
  if (known) return known;
  const storage = getMetadataStorage();
  const byField = storage.groupByPropertyName(
    storage.getTargetValidationMetadatas(shape as new () => object, '', false, false),
  );
  const rules = Object.entries(byField).map(([field, metadata]) => ({
    field,
    conditions: metadata.filter(isCondition).map(conditionOf),
    tests: metadata.filter((one) => !isCondition(one)).map(testOf),
  }));
  compiled.set(shape, rules);
  return rules;
}

const isCondition = ({ type }: Metadata): boolean => type === 'conditionalValidation';

function conditionOf({ constraints }: Metadata): Test {
  const [holds] = constraints as readonly ((object: object, value: unknown) => boolean)[];
  return (value, instance) => holds?.(instance, value) === true;
}

function testOf(metadata: Metadata): Test {
  if (metadata.type === 'nestedValidation') return isNestedValid;
  if (metadata.type !== 'customValidation') throw new Error(`No contract is made with ${metadata.type}`);
  if (metadata.validateIf || metadata.context)
    throw new Error(`${metadata.propertyName} has options that nothing reads`);
  const tests = getMetadataStorage()
    .getTargetValidatorConstraints(metadata.constraintCls)
    .map(({ instance, async }) => {
      if (async) throw new Error(`${metadata.propertyName} cannot be judged at once`);
      return (value: unknown, holder: object) =>
        Boolean(instance.validate(value, argumentsOf(metadata, value, holder)));
    });
  const passes: Test = (value, holder) => tests.every((test) => test(value, holder));
  return metadata.each
    ? (value, holder) => (Array.isArray(value) ? value.every((item) => passes(item, holder)) : passes(value, holder))
    : passes;
}

const argumentsOf = ({ propertyName, constraints }: Metadata, value: unknown, object: object): ValidationArguments => ({
  targetName: object.constructor.name,
  property: propertyName,
  object,
  value,
  constraints: constraints as unknown[],
});

/** An array in an array counts as class-validator counts it: by what is in it. */
const isNestedValid: Test = (value) => {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every((item) => isNestedValid(item, value));
  return typeof value === 'object' && value !== null && isValid(value);
};
