import { expect, it } from 'vitest';
import { logHref } from '#lib/console/usage/log-href';

it('an address of the log has the filters and the edges of a range, whatever else the range carries', () => {
  const series = { from: '2026-11-24T12:00Z', to: '2026-11-25T12:00Z', cost: '0.004145', groups: [{}] };
  expect(logHref('/acme/logs', { outcome: 'limit' }, series)).toBe(
    '/acme/logs?outcome=limit&from=2026-11-24T12%3A00Z&to=2026-11-25T12%3A00Z',
  );
});
