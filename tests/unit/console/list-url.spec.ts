import { expect, test } from 'vitest';
import { listUrl, readListUrl } from '#lib/console/list-url';
import { listCalls } from '#lib/control/operations/call/operations';

const read = (query: Record<string, string | string[]>, zone = 'Asia/Tokyo') =>
  readListUrl(listCalls.fields, query, zone);

test('the filters of a URL become the input of the operation, the first of each name', () => {
  expect(read({ status: '4xx', model: ' a/b ', id: ['a', 'b'], empty: '', unknown: 'x' })).toEqual({
    texts: { status: '4xx', model: 'a/b', id: 'a' },
    input: { status: '4xx', model: 'a/b', id: 'a' },
    faults: [],
  });
});

test('times are those of the workspace’s wall clock, unless they say their offset', () => {
  const { input } = read({ from: '2026-08-01T10:00', to: '2026-08-02' });
  expect(input).toEqual({ from: '2026-08-01T01:00:00.000Z', to: '2026-08-01T15:00:00.000Z' });
  expect(read({ from: '2026-08-01T10:00:00Z' }).input).toEqual({ from: '2026-08-01T10:00:00Z' });
  // In Berlin the clock was put back from 3 to 2 and forward from 2 to 3.
  expect(read({ from: '2026-10-25T04:00', to: '2026-03-29T04:00' }, 'Europe/Berlin').input).toEqual({
    from: '2026-10-25T03:00:00.000Z',
    to: '2026-03-29T02:00:00.000Z',
  });
});

test.each([
  [{ status: '9xx' }, /^Status: must be an HTTP status/],
  [{ id: 'a\u0000b' }, /^Request id: /],
  [{ model: 'a\u0000b' }, /^Model: /],
  [{ from: '2026-13-01' }, /^From: /],
  [{ limit: '0' }, /^Rows: /],
])('%j is a fault that names its filter, and no input', (query, told) => {
  const { input, faults } = read(query);
  expect(input).toEqual({});
  expect(faults).toEqual([expect.stringMatching(told)]);
});

test('a URL keeps the filters that are given, escaped', () => {
  expect(listUrl('/acme/logs', { status: '4xx', model: 'a&b', after: null })).toBe(
    '/acme/logs?status=4xx&model=a%26b',
  );
  expect(listUrl('/acme/logs', { after: null })).toBe('/acme/logs');
});
