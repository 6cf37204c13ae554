import { expect, it } from 'vitest';
import { createHolders } from '#lib/routing/holders';

it('a conversation finds the provider that holds its cache for five minutes after the last use', () => {
  const holders = createHolders();
  holders.remember('w', 'm', 'talk', 'a', 0);
  expect(holders.find('w', 'm', 'talk', 299_999)).toBe('a');
  expect(holders.find('w', 'm', 'talk', 300_000)).toBeNull();
  holders.remember('w', 'm', 'talk', 'b', 100_000);
  expect(holders.find('w', 'm', 'talk', 399_999)).toBe('b');
});

it('is not seen by another workspace, model or conversation', () => {
  const holders = createHolders();
  holders.remember('w', 'm', 'talk', 'a', 0);
  expect(holders.find('v', 'm', 'talk', 1)).toBeNull();
  expect(holders.find('w', 'n', 'talk', 1)).toBeNull();
  expect(holders.find('w', 'm', 'walk', 1)).toBeNull();
});

it('keeps a bounded number, those used last, and no names of absurd length', () => {
  const holders = createHolders(2);
  holders.remember('w', 'm', '1', 'a', 0);
  holders.remember('w', 'm', '2', 'a', 0);
  holders.remember('w', 'm', '1', 'a', 1);
  holders.remember('w', 'm', '3', 'a', 2);
  expect(['1', '2', '3'].map((name) => holders.find('w', 'm', name, 3))).toEqual(['a', null, 'a']);
  holders.remember('w', 'm', 'x'.repeat(513), 'a', 3);
  expect(holders.find('w', 'm', 'x'.repeat(513), 4)).toBeNull();
});
