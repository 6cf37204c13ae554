import { expect, it } from 'vitest';
import { Holders } from '#lib/gateway/routing/holders';
import { keeper } from '#tests/unit/routing/make';

const talk = { workspaceId: 'w', model: 'm', name: 'talk' };

it('a conversation finds the provider that holds its cache for five minutes after the last use', () => {
  const holders = new Holders();
  holders.remember(talk, keeper('a'), 0);
  expect(holders.find(talk, 299_999)).toEqual(keeper('a'));
  expect(holders.find(talk, 300_000)).toBeNull();
  holders.remember(talk, keeper('b'), 100_000);
  expect(holders.find(talk, 399_999)).toEqual(keeper('b'));
});

it('a holder is not found for another workspace, model or conversation', () => {
  const holders = new Holders();
  holders.remember(talk, keeper('a'), 0);
  expect(holders.find({ ...talk, workspaceId: 'v' }, 1)).toBeNull();
  expect(holders.find({ ...talk, model: 'n' }, 1)).toBeNull();
  expect(holders.find({ ...talk, name: 'walk' }, 1)).toBeNull();
});

it('a limited number of conversations is remembered, those used last, and no names of absurd length', () => {
  const holders = new Holders(2);
  holders.remember({ ...talk, name: '1' }, keeper('a'), 0);
  holders.remember({ ...talk, name: '2' }, keeper('a'), 0);
  holders.remember({ ...talk, name: '1' }, keeper('a'), 1);
  holders.remember({ ...talk, name: '3' }, keeper('a'), 2);
  expect(['1', '2', '3'].map((name) => holders.find({ ...talk, name }, 3))).toEqual([
    keeper('a'),
    null,
    keeper('a'),
  ]);
  holders.remember({ ...talk, name: 'x'.repeat(513) }, keeper('a'), 3);
  expect(holders.find({ ...talk, name: 'x'.repeat(513) }, 4)).toBeNull();
});
