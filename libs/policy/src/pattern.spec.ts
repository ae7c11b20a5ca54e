import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SAME } from './arbitraries-for-spec.js';
import { matches } from './pattern.js';

describe('a pattern', () => {
  it.each([
    ['pay', 'pay'],
    ['*', ''],
    ['*', 'anything at all'],
    ['send_*', 'send_email'],
    ['send_*', 'send_'],
    ['*_email', 'send_email'],
    ['*end*mail*', 'send_email'],
    ['a*a', 'aa'],
    ['a**b', 'ab'],
    ['*.*', 'a.b'],
    ['*ab*ab', 'xabab'],
    ['p[a]y.*', 'p[a]y.now'],
  ])('"%s" matches "%s"', (pattern, name) => expect(matches(pattern, name)).toBe(true));

  it.each([
    ['pay', 'Pay'],
    ['pay', 'pays'],
    ['pay', 'repay'],
    ['', 'pay'],
    ['send_*', 'resend_email'],
    ['*_email', 'send_emails'],
    ['a*a', 'a'],
    ['ab*ba', 'aba'],
    ['p.y', 'pay'],
    ['p[a]y', 'pay'],
    ['p?y', 'pay'],
    ['(a+)+', 'aaa'],
    ['*a*b*', 'ba'],
    ['*a*a*', 'a'],
    ['*aba*aba*', 'ababa'],
  ])('"%s" does not match "%s"', (pattern, name) => expect(matches(pattern, name)).toBe(false));

  const texts = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.', 'é', '\n'), maxLength: 8 });
  it('says what a regular expression in its place would say', () =>
    fc.assert(
      fc.property(texts, texts, (pattern, name) => {
        const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
        expect(matches(pattern, name)).toBe(new RegExp(`^${parts.join('[^]*')}$`, 'u').test(name));
      }),
      SAME,
    ));
});
