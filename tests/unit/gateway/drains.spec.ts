import { expect, it, vi } from 'vitest';
import { Drains } from '#lib/gateway/flow/relay/drains';

const nothing = () => {};

it('a key has 16 drains, or as many as its concurrency limit says; others are not affected', () => {
  const drains = new Drains();
  const begin = (key: string, concurrency: number | null, count: number) =>
    Array.from({ length: count }, () => drains.begin(key, concurrency, false, () => {}) !== null);
  expect(begin('silent', null, 17).filter(Boolean)).toHaveLength(16);
  expect(begin('one', 1, 2)).toEqual([true, false]);
  expect(begin('many', 40, 41).filter(Boolean)).toHaveLength(40);
});

it('a place is free again when a drain ends, also if its end is called twice', () => {
  const drains = new Drains();
  const first = drains.begin('key', 2, false, () => {});
  drains.begin('key', 2, false, () => {});
  first?.();
  first?.();
  expect(drains.begin('key', 2, false, () => {})).not.toBeNull();
  expect(drains.begin('key', 2, false, () => {})).toBeNull();
});

it('a process has at most 256 drains', () => {
  const drains = new Drains();
  const begun = Array.from({ length: 300 }, (_, key) => drains.begin(`${key}`, null, false, () => {}));
  expect(begun.filter((one) => one !== null)).toHaveLength(256);
});

it('mandatory drains always run, however many there are, and count towards the limit', () => {
  const drains = new Drains(1);
  expect(drains.begin('key', 1, true, () => {})).not.toBeNull();
  expect(drains.begin('key', 1, true, () => {})).not.toBeNull();
  expect(drains.begin('other', null, false, nothing)).toBeNull();
});

it('a stop ends running drains and lets no new one begin', () => {
  const drains = new Drains();
  const cut = vi.fn();
  const ended = vi.fn();
  drains.begin('key', null, false, cut);
  drains.begin('key', null, false, ended)?.();
  drains.stop();
  expect(cut).toHaveBeenCalledOnce();
  expect(ended).not.toHaveBeenCalled();
  expect(drains.begin('key', null, false, nothing)).toBeNull();
});
