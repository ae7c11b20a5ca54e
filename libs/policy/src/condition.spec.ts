import { describe, expect, it } from '@jest/globals';
import { compileCondition } from './condition.js';
import { ConditionFailed } from './condition-input.js';
import { asking, compiling, inputOf, says, type Args } from './conditions-for-spec.js';

describe('a condition', () => {
  const ARGS = {
    amount: 12.5,
    count: 3,
    to: ['a@x.com', 'b@y.com'],
    note: null,
    who: { name: 'Zoë', age: 4 },
    big: 1e15,
  };
  it.each([
    'args.amount > 10.0',
    'args.amount > 10',
    'args.count == 3',
    'args.count in [1, 2, 3]',
    "args.amount * 2.0 == 25.0 && args.who.name == 'Zoë'",
    "args['who']['name'].startsWith('Z')",
    "args.to.all(one, one.contains('@'))",
    "args.to.exists(one, one.endsWith('@y.com'))",
    "args.to.exists_one(one, one.endsWith('@y.com'))",
    "size(args.to.filter(one, one.endsWith('.com'))) == 2",
    'args.to.map(one, one.size()) == [7, 7]',
    'args.note == null',
    'has(args.who.age) && !has(args.who.height)',
    "args.to[0].matches('^[a-z]+@x[.]com$')",
    'args.big > 1000000.0',
    "timestamp('2026-01-01T00:00:00Z') < timestamp('2026-01-02T00:00:00Z')",
    'args.who.exists(key, key == "age")',
    'args.missing == 1 || true',
    "tool == 'pay' && server == 'bank' && agent.path[0] == 'root' && conversation.id == 'conv'",
  ])('can say: %s', (when) => expect(says(when, ARGS)).toBe(true));
  it('takes null for missing where it asks whether a field is there', () =>
    expect(says("has(args.note) || 'note' in args", ARGS)).toBe(false));
  it('can say no', () => expect(says('args.amount > 100.0', ARGS)).toBe(false));
  it('says the same whatever was asked before', () => {
    const condition = compileCondition('args.amount > 10');
    expect([5, 50, 5].map((amount) => condition(inputOf({ amount })))).toEqual([false, true, false]);
  });
});

describe('a condition is refused', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)} == []`;
  it.each<[string, string, string]>([
    ['that is empty', ' ', ''],
    ['that is no condition', 'args.amount >', ''],
    ['with something behind it', 'true true', ''],
    ['that is longer than 4096 bytes', `tool == '${'é'.repeat(2_050)}'`, 'longer than 4096 bytes'],
    ['that is nested too deep', deep(70), 'nested deeper than 64'],
    ['that adds too many', `1${' + 1'.repeat(70)} == 71`, 'nested deeper than 64'],
    ['that is brackets', '('.repeat(4_000), ''],
    ['that names what there is not', 'amount > 5', 'speaks of "amount": there are "args", "tool"'],
    ['that names a prototype', 'constructor == null', 'speaks of "constructor"'],
    ['that names it inside', "args.all(one, __proto__ == 'x')", 'speaks of "__proto__"'],
    ['that makes a message', 'google.protobuf.Any{} == null', 'google.protobuf.Any'],
    ['that calls what there is not', "args.to.toLowerCase() == 'x'", 'calls "toLowerCase"'],
    ['that asks the time', 'now() > timestamp(args.at)', 'calls "now"'],
    ['with half a loop', 'args.to.all(one)', 'calls "all"'],
  ])('%s', (_, when, why) => {
    expect(compiling(when)).toThrow(ConditionFailed);
    expect(compiling(when)).toThrow(why);
  });
  it.each(['tool == "x" || '.repeat(250) + 'true', 'args.a in [1, 2, 3, 4, 5, 6, 7, 8, 9]', deep(60)])(
    'but not for being long: %#',
    (when) => expect(compiling(when)).not.toThrow(),
  );
});

describe('a loop', () => {
  it.each([
    'args.a.all(x, args.b.all(y, x == y))',
    'args.a.exists(x, args.b.filter(y, y > x).size() > 0)',
    'args.a.map(x, args.b.map(y, x)).size() > 0',
    'args.a.all(x, [x].exists_one(y, y == x))',
  ])('within a loop is refused: %s', (when) => expect(compiling(when)).toThrow('loop within a loop'));
  it.each(['args.a.filter(x, x > 1).all(y, y < 9)', '[[1]].map(x, x + x).map(x, x + x) == []'])(
    'over what a loop gives is refused, for it may grow each time: %s',
    (when) => expect(compiling(when)).toThrow('over what a loop gives'),
  );
  it('beside another is not', () =>
    expect(says('args.a.all(x, x > 0) && args.a.exists(x, x > 1)', { a: [1, 2] })).toBe(true));
  it('has its own name, though it hides another', () =>
    expect(says('args.a.all(tool, tool > 0)', { a: [1] })).toBe(true));
  it('leaves its name behind', () => expect(compiling('args.a.all(x, x > 0) && x > 0')).toThrow('speaks of "x"'));
});

describe('it fails where it gives no answer', () => {
  it.each<[string, string]>([
    ['about a field that is missing', 'args.missing == 1'],
    ['about a field of what has none', 'args.amount.unit == 1'],
    ['about an item beyond the last', 'args.list[2] == 1'],
    ['about things that do not compare', "args.amount > 'a'"],
    ['about things that do not add', 'args.amount + 1 == 6'],
    ['with no boolean', 'args.amount'],
    ['with a text', "'true'"],
    ['with null', 'null'],
    ['over what is no list', 'args.amount.all(x, true)'],
    ['dividing by zero', '1 / 0 == 1'],
  ])('%s', (_, when) => expect(asking(when, { amount: 5, list: [1] })).toThrow(ConditionFailed));
});

describe('what an object inherits', () => {
  const args = { list: [1], name: 'x', inner: {} };
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'prototype'])('is not there: %s', (name) => {
    expect(says(`has(args.${name}) || has(args.inner.${name}) || has(agent.${name}) || '${name}' in args`, args)).toBe(
      false,
    );
    for (const when of [
      `args.${name} != 0`,
      `args['${name}'] != 0`,
      `args.list.${name} != 0`,
      `args.name.${name} != 0`,
    ])
      expect(asking(when, args)).toThrow(ConditionFailed);
  });
  it('is there where the call has it itself', () => {
    const own = JSON.parse('{"constructor": 1, "toString": {"a": 2}, "hasOwnProperty": 3}') as Args;
    expect(says('args.constructor == 1 && args.toString.a == 2 && args.hasOwnProperty == 3', own)).toBe(true);
  });
});

describe('a call cannot be taken for something else', () => {
  const number = { $typeName: 'google.protobuf.DoubleValue', value: 1 };
  it('by a type that it names', () => {
    expect(asking('args.amount < 10.0', { amount: number })).toThrow(ConditionFailed);
    expect(says("args.amount['$typeName'] == 'google.protobuf.DoubleValue'", { amount: number })).toBe(true);
  });
  it('by a type that all of it names', () => {
    const fields = { amount: { kind: { case: 'numberValue', value: 1 } } };
    const struct = { $typeName: 'google.protobuf.Struct', fields, amount: 1_000 };
    expect(says('args.amount == 1000', struct)).toBe(true);
    expect(says('annotations.amount == 1000', {}, { annotations: struct })).toBe(true);
  });
  it('by a class that it names', () => {
    expect(says('args.amount == 5', { constructor: { name: 'Uint8Array' }, amount: 5 })).toBe(true);
    expect(says('args.one.amount == 5', { one: { constructor: null, amount: 5 } })).toBe(true);
  });
});
