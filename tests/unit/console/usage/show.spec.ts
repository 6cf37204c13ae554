import { describe, expect, it } from 'vitest';
import { bucketLabels } from '#lib/console/show/bucket-labels';
import { showFigure } from '#lib/console/show/figure';
import { showDaysLeft } from '#lib/console/show/notices';
import { showRange } from '#lib/console/show/range';
import { bucketStarts, type Step } from '#lib/core/charts/buckets';
import { isoInZone } from '#lib/core/charts/zone';
import { deltaOf } from '#lib/core/delta';

const at = (text: string) => Date.parse(text);

it.each([
  [110, 100, '+10%', 1],
  [95, 100, '−5%', -1],
  [100, 100, 'same', 0],
  [100.0001, 100, 'same', 0],
  [100.5, 100, '+0.5%', 1],
  [0, 5, '−100%', -1],
  [1500, 100, '× 15', 1],
])('%d after %d is %s', (now, before, text, direction) => {
  expect(deltaOf(now, before)).toEqual({ text, direction });
});

it('nothing is compared with what is not known, or with a period in which there was nothing', () => {
  expect([deltaOf(null, 1), deltaOf(1, null), deltaOf(5, 0), deltaOf(0, 0)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

it.each([
  ['money', 0.000004, '$0.000004'],
  ['money', 1234.5, '$1,234.50'],
  ['money', 0, '$0.00'],
  ['count', 1_234_567, '1,234,567'],
  ['count', 0, '0'],
  ['span', 320.4, '320 ms'],
  ['span', 2400, '2.40 s'],
] as const)('%s %d reads %s', (kind, value, text) => {
  expect(showFigure(kind, value)).toBe(text);
  expect(showFigure(kind, null)).toBe('–');
});

it.each([
  [0.02, '1 h'],
  [0.5, '12 h'],
  [1, '1 day'],
  [2.44, '2.4 days'],
  [48.7, '48 days'],
  [400, 'more than a year'],
])('money for %d days lasts %s', (days, text) => {
  expect(showDaysLeft(days)).toBe(text);
});

describe('the buckets of a chart', () => {
  const labels = (from: string, to: string, step: Step, zone: string) =>
    bucketLabels(bucketStarts(at(from), at(to), step, zone), at(to), step, zone).map(({ long }) => long);

  it('are named by the clock of the zone', () => {
    expect(labels('2026-11-21T18:15:00Z', '2026-11-22T18:15:00Z', 'day', 'Asia/Kathmandu')).toEqual([
      'Sun 22 Nov 2026',
    ]);
    expect(labels('2026-11-22T10:00:00Z', '2026-11-22T11:15:00Z', 'hour', 'Asia/Kathmandu')).toEqual([
      '22 Nov, 15:45–16:00',
      '22 Nov, 16:00–17:00',
    ]);
  });

  it('tell an hour that comes twice from the other by its offset', () => {
    expect(labels('2026-11-01T05:00:00Z', '2026-11-01T07:00:00Z', 'hour', 'America/New_York')).toEqual([
      '1 Nov, 01:00–01:00 (UTC-04:00)',
      '1 Nov, 01:00–02:00 (UTC-05:00)',
    ]);
  });
});

it.each([
  ['2026-11-01T00:00:00Z', '2026-11-23T00:00:00Z', '1 Nov – 22 Nov 2026'],
  ['2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z', '22 Nov 2026'],
  ['2026-11-21T10:30:00Z', '2026-11-22T10:30:00Z', '21 Nov 2026, 10:30 – 22 Nov 2026, 10:30'],
  ['2025-12-01T00:00:00Z', '2026-11-22T10:30:00Z', '1 Dec 2025 – 22 Nov 2026, 10:30'],
])('the range from %s to %s reads %s', (from, to, text) => {
  expect(showRange(at(from), at(to), 'UTC')).toBe(text);
});

it.each([
  ['Asia/Kathmandu', '2026-11-22T16:05:00+05:45'],
  ['America/New_York', '2026-11-22T05:20:00-05:00'],
  ['UTC', '2026-11-22T10:20:00+00:00'],
])('a moment by the clock of %s is %s', (zone, text) => {
  expect(isoInZone(at('2026-11-22T10:20:00Z'), zone)).toBe(text);
  expect(at(text)).toBe(at('2026-11-22T10:20:00Z'));
});
