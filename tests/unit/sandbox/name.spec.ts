import { expect, test } from 'vitest';
import { findDirective, parseName, withoutDirective } from '#tools/sandbox/scenario/name';
import { Scenarios } from '#tools/sandbox/scenario/plan';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

test('a plain name is a base, with or without the vendor', () => {
  expect(parseName('mini')).toMatchObject({ base: 'mini', fault: null, pace: null });
  expect(parseName('sandbox/mini').base).toBe('mini');
});

test('a fault has its place and its parameters', () => {
  const name = parseName('fault/stall@20?ms=30000&times=2');
  expect(name).toMatchObject({ base: 'echo', fault: 'stall', at: 20 });
  expect(Object.fromEntries(name.params)).toEqual({ ms: '30000', times: '2' });
});

test('a pace can be alone or before a fault or a model', () => {
  expect(parseName('pace/5/100')).toMatchObject({ base: 'echo', pace: { gapMs: 5, chunks: 100 } });
  expect(parseName('pace/5/100?tier=flex')).toMatchObject({ base: 'echo', pace: { chunks: 100 } });
  expect(parseName('pace/5/100/mini')).toMatchObject({ base: 'mini', pace: { gapMs: 5, chunks: 100 } });
  expect(parseName('pace/5/100/fault/cut@40')).toMatchObject({ fault: 'cut', at: 40, pace: { gapMs: 5 } });
});

test('a name outside the grammar is a base that no model has', () => {
  expect(parseName('fault/cut@x').base).toBe('fault/cut@x');
});

test('a prompt may contain a name in double brackets', () => {
  expect(findDirective('Say hi [[ fault/cut@3 ]] please')).toBe('fault/cut@3');
  expect(withoutDirective('Say hi [[fault/cut@3]]')).toBe('Say hi');
  expect(findDirective('matrix[0][1]')).toBeNull();
});

test('times=K affects only the first K requests with that name', () => {
  const scenarios = new Scenarios(0);
  const strikes = () => scenarios.plan('fault/status-503?times=2', undefined).behaviour.instead !== null;
  expect([strikes(), strikes(), strikes()]).toEqual([true, true, false]);
  expect(scenarios.plan('fault/status-503?times=1', undefined).behaviour.instead).not.toBeNull();
});

test('an unknown fault gets a 404 that names the known ones', () => {
  const plan = () => new Scenarios(0).plan('fault/flood', undefined);
  expect(plan).toThrow(ProviderFault);
  expect(plan).toThrow(/'flood' does not exist.*stall.*wrong-length/);
});
