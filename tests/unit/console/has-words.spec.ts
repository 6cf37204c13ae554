import { describe, expect, it } from 'vitest';
import { hasWords } from '#lib/console/has-words';

describe('a search by words', () => {
  it.each([
    ['Create API key new add', 'create key'],
    ['Create API key new add', 'KEY  create'],
    ['Create API key new add', 'new key'],
    ['User and tag budgets spend cap', 'tag cap'],
    ['sandbox/mini Model', 'mini'],
    ['openai/gpt-5', 'gpt'],
    ['openai/gpt-5', 'openai/gpt'],
    ['Logs calls', ''],
  ])('finds “%s” by “%s”', (text, sought) => {
    expect(hasWords(text, sought)).toBe(true);
  });

  it.each([
    ['Create API key new add', 'create fund'],
    ['API keys', 'ey'],
    ['Logs calls', 'og'],
  ])('does not find “%s” by “%s”', (text, sought) => {
    expect(hasWords(text, sought)).toBe(false);
  });
});
