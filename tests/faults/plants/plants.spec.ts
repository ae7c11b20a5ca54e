import { describe, expect, it } from '@jest/globals';
import { changed, compilePlant } from './plant.js';
import { PLANTS } from './plants.js';

describe('a planted fault', () => {
  it.each(PLANTS)('"$name" still changes the product, and what it changes compiles', (plant) => {
    expect(compilePlant(plant).every(({ code }) => code.length > 0)).toBe(true);
  });

  it('has a name of its own, and something that must find it', () => {
    expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(PLANTS.length);
    expect(PLANTS.filter(({ foundBy }) => foundBy.length === 0)).toEqual([]);
  });

  it.each(['', 'one two one'])('of which the text is not there exactly once, as in "%s", is refused', (source) => {
    expect(() => changed(source, { file: 'a.ts', find: 'one', replace: 'two' })).toThrow('a.ts has the text');
  });
});
