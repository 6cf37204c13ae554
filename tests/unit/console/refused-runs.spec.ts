import { expect, it } from 'vitest';
import { refusedRuns } from '#lib/console/log/runs';

const call = (id: string, change: object = {}) => ({
  id,
  endReason: 'refused',
  keyId: 'k',
  errorCode: 'insufficient_balance',
  requested: 'a/b',
  ...change,
});
const idsOf = (calls: ReturnType<typeof call>[]) =>
  refusedRuns(calls).map((run) => run.map(({ id }) => id).join(''));

it('puts refusals together that follow each other for the same reason, in their order', () => {
  expect(idsOf([call('a'), call('b'), call('c')])).toEqual(['abc']);
  expect(refusedRuns([])).toEqual([]);
});

it.each([
  ['another key', { keyId: 'other' }],
  ['another code', { errorCode: 'day_limit_reached' }],
  ['another model', { requested: null }],
  ['an answer', { endReason: 'completed', errorCode: null }],
])('begins a new row with %s between them', (_, change) => {
  expect(idsOf([call('a'), call('b'), call('c', change), call('d')])).toEqual(['ab', 'c', 'd']);
});

it('leaves calls alone that were not refused, however alike they are', () => {
  const failed = { endReason: 'upstream_error', errorCode: 'upstream_request_failed' };
  expect(idsOf([call('a', failed), call('b', failed)])).toEqual(['a', 'b']);
});
