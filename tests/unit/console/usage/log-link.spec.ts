import { expect, it } from 'vitest';
import { logFiltersOf } from '#lib/console/usage/log-link';

it.each([
  [{ by: 'model', value: 'a/b' }, { countedModel: 'a/b' }],
  [{ by: 'model', value: '' }, { countedModel: 'none' }],
  [{ by: 'provider', value: '' }, { provider: 'none' }],
  [{ by: 'key', value: 'k' }, { key: 'k' }],
  [{ by: 'outcome', value: 'limit' }, { outcome: 'limit' }],
  [
    { by: 'model', value: 'a/b', errors: true },
    { countedModel: 'a/b', outcome: 'error' },
  ],
  [{ by: 'outcome', value: 'limit', errors: true }, { outcome: 'limit' }],
  [{ by: 'outcome', value: 'ok', errors: true }, null],
  [{ by: 'model', value: null }, null],
  [{ by: null, value: null }, {}],
  [
    { by: 'provider', value: 'one', filters: { model: 'a/b', key: 'k' } },
    { provider: 'one', countedModel: 'a/b', key: 'k' },
  ],
] as const)('what %j counts is found by %j', (counted, filters) => {
  const found = logFiltersOf({ filters: {}, errors: false, ...counted });
  expect(found).toEqual(filters && { ...filters, usage: 'counted' });
});
