import { describe, expect, it } from 'vitest';
import { axisOf } from '#lib/console/usage/axis';

describe('the marks of an axis', () => {
  it.each([
    ['money', 0.31, ['$0.0', '$0.1', '$0.2', '$0.3', '$0.4']],
    ['money', 1.4, ['$0.0', '$0.5', '$1.0', '$1.5']],
    ['money', 0.9, ['$0.00', '$0.25', '$0.50', '$0.75', '$1.00']],
    ['money', 9_600, ['$0.0k', '$2.5k', '$5.0k', '$7.5k', '$10.0k']],
    ['count', 3, ['0', '1', '2', '3']],
    ['count', 1, ['0', '1']],
    ['count', 3_400_000, ['0M', '1M', '2M', '3M', '4M']],
    ['span', 320, ['0 ms', '100 ms', '200 ms', '300 ms', '400 ms']],
    ['span', 16_000, ['0 s', '5 s', '10 s', '15 s', '20 s']],
  ] as const)('of %s up to %d are %j', (kind, largest, labels) => {
    expect(axisOf(kind, largest).labels).toEqual(labels);
  });

  it.each([0, 1e-6, 7, 99, 100, 101, 12_345, 8.8e11])('reach %d and are few', (largest) => {
    for (const kind of ['money', 'count', 'span'] as const) {
      const { ticks, labels } = axisOf(kind, largest);
      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(largest);
      expect(ticks.length).toBeLessThanOrEqual(5);
      expect(new Set(labels).size).toBe(labels.length);
    }
  });
});
