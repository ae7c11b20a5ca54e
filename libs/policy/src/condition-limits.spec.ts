import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SAME } from './arbitraries-for-spec.js';
import { compileCondition } from './condition.js';
import { ConditionFailed } from './condition-input.js';
import { asking, compiling, inputOf, says, type Args } from './conditions-for-spec.js';

describe('it is not asked about', () => {
  it.each<[string, Args]>([
    ['arguments over 65536 characters', { text: 'x'.repeat(65_536) }],
    ['a list of over 1000', { list: Array.from({ length: 1_001 }, () => 1) }],
    ['such a list, wherever it is', { a: [{ b: Array.from({ length: 1_001 }, () => 1) }] }],
    ['an object of over 1000 fields', Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, 1]))],
  ])('%s', (_, args) => {
    expect(asking('true', args)).toThrow('is not asked about');
    expect(asking('true', {}, { annotations: args })).toThrow('is not asked about');
  });
  it('but about a little less', () => {
    expect(says('size(args.text) > 0', { text: 'x'.repeat(65_000) })).toBe(true);
    expect(says('args.list.all(x, x == 1)', { list: Array.from({ length: 1_000 }, () => 1) })).toBe(true);
  });
});

describe('a pattern', () => {
  const quickest = (when: string, args: Args) => {
    const condition = compileCondition(when);
    const times = Array.from({ length: 7 }, () => {
      const began = performance.now();
      condition(inputOf(args));
      return performance.now() - began;
    });
    return Math.min(...times);
  };
  it('that would take for ever elsewhere takes no longer than a plain one', () => {
    const args = { text: `${'a'.repeat(40)}!` };
    const plain = quickest("args.text.matches('^a+$')", args);
    expect(quickest("args.text.matches('^(a+)+$')", args)).toBeLessThan(plain * 100);
    expect(says("args.text.matches('^(a+)+$')", args)).toBe(false);
  });
  it.each(['(', '[z-a]', '(?=a)'])('that is none is refused: %s', (pattern) =>
    expect(compiling(`args.a.matches('${pattern}')`)).toThrow('has a pattern that'),
  );
  it.each(['a{2000}', 'a{600}b{0,500}', '(?:a{30}){30}(?:b{30}){30}', '[a-z]{1000}'.repeat(300)])(
    'that is too large is refused: %s',
    (pattern) => expect(compiling(`args.a.matches('${pattern}')`)).toThrow('has a pattern that is too large'),
  );
  it.each(['args.a.matches(args.pattern)', "args.a.matches('a' + args.b)", 'args.a.matches(tool)'])(
    'that comes with the call is refused: %s',
    (when) => expect(compiling(when)).toThrow('does not stand in it as text'),
  );
  it('finds anywhere, unless it says where', () =>
    expect([says("'xay'.matches('a')"), says("'xay'.matches('^a$')")]).toEqual([true, false]));
});

describe('too much work is a failure, not an answer', () => {
  const list = Array.from({ length: 1_000 }, (_, at) => at);
  it.each<[string, string]>([
    ['comparing long lists again and again', 'args.list.all(x, args.list == args.copy)'],
    ['looking for each in the other', 'args.list.all(x, x in args.copy)'],
    ['looking through a long text for each', "args.list.exists(x, args.text.matches('(a|b)*c'))"],
    ['though the rest of it would be true', 'args.list.exists(x, args.list == args.copy && x < 0) || true'],
    ['looking through a long text for a large pattern', "args.text.matches('(?:a?){450}c')"],
    ['putting lists together', 'args.list + args.copy == []'],
  ])('%s', (_, when) =>
    expect(asking(when, { list, copy: [...list], text: 'ab'.repeat(25_000) })).toThrow(ConditionFailed),
  );
  it('is counted anew for each call', () => {
    const condition = compileCondition('args.list.all(x, args.list == args.copy)');
    expect(() => condition(inputOf({ list, copy: [...list] }))).toThrow(ConditionFailed);
    expect(condition(inputOf({ list: [1], copy: [1] }))).toBe(true);
  });
  it('is counted for all conditions on a call together', () => {
    const condition = compileCondition('args.list.all(x, x < 1000)');
    const [one, other] = [inputOf({ list }), inputOf({ list })];
    const again = () => Array.from({ length: 100 }, () => condition(one));
    expect(again).toThrow('does too much');
    expect(condition(other)).toBe(true);
  });
  it('is refused where it can be seen', () =>
    expect(compiling(`args.list.all(x, ${"x != 'a' && ".repeat(60)}true)`)).toThrow('more than 200 parts in loops'));
  it('is not what a rule does that people would write', () => {
    const to = Array.from({ length: 500 }, (_, at) => `someone-${at}@example.com`);
    const text = 'lorem ipsum '.repeat(2_000);
    expect(says("args.to.all(one, one.matches('^[a-z0-9-]+@example[.]com$'))", { to })).toBe(true);
    expect(says("args.text.matches('(?i)(password|secret|token)')", { text })).toBe(false);
    expect(says("args.to.exists(one, one in ['a@example.com', 'b@example.com'])", { to })).toBe(false);
  });
});

describe('whatever is written and asked', () => {
  const word = fc.constantFrom(
    ...[
      'args',
      'args.a',
      'args.b[0]',
      'tool',
      'x',
      '1',
      '2.0',
      "'a'",
      'null',
      '[',
      ']',
      '(',
      ')',
      '{',
      '}',
      ',',
      ':',
      '?',
    ],
    ...['==', '>', '+', '&&', '||', '!', ' in ', '.all(x, ', '.map(x, ', '.size()', '.matches(', 'has(', 'size('],
  );
  const source = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(''));
  const json = fc.dictionary(fc.constantFrom('a', 'b', '$typeName', 'constructor'), fc.jsonValue({ maxDepth: 2 }));
  it('it says yes or no, or fails as a condition fails', () =>
    fc.assert(
      fc.property(source, json, (when, args) => {
        try {
          expect(typeof says(when, args as Args)).toBe('boolean');
        } catch (error) {
          expect(error).toBeInstanceOf(ConditionFailed);
        }
      }),
      { ...SAME, numRuns: 3_000 },
    ));
});
