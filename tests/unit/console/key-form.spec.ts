import { expect, it } from 'vitest';
import { keyRowOf } from '#lib/console/show/key/rows';
import { keySettings, type ShownKey } from '#lib/control/operations/key/settings';

const key: ShownKey = {
  id: '01890000-0000-7000-8000-000000000000',
  workspace: 'acme',
  display: 'mg_abcd…wxyz',
  earlier: null,
  status: 'active',
  quotaExhausted: false,
  createdBy: null,
  ownerRemoved: false,
  refusing: null,
  lastUsedAt: null,
  lastTriedAt: null,
  createdAt: '2026-11-01T00:00:00.000Z',
  spent: { day: '0', d7: '0', d30: '0', total: '0' },
  name: 'web',
  models: ['openai/gpt-4.1'],
  dailyCap: '5',
  d7Cap: '25',
  d30Cap: '80',
  quota: '500',
  rpm: 60,
  tpm: 200_000,
  concurrency: 10,
  maxOutputTokens: 4096,
  content: 'errors',
  idempotency: 'inherit',
  cache: 'inherit',
  expiresAt: '2027-01-31T18:14:59.000Z',
};
const place = { workspace: 'acme', timeZone: 'Asia/Kathmandu', nowMs: Date.parse('2026-11-22T12:00:00Z') };

// The form sends all its boxes: a setting that is missing here would be removed by editing another one.
it('a form that edits a key begins with everything that is set', () => {
  const { settings } = keyRowOf(key, place);
  expect(Object.keys(settings).sort()).toEqual(Object.keys(keySettings).sort());
  expect(settings).toMatchObject({
    models: ['openai/gpt-4.1'],
    rpm: '60',
    quota: '500',
    expiresAt: '2027-01-31',
  });
});

it('a form that edits a key leaves out what is not set', () => {
  const bare = { ...key, models: null, expiresAt: null, rpm: null, quota: null };
  const { settings } = keyRowOf(bare, place);
  for (const name of ['models', 'expiresAt', 'rpm', 'quota']) expect(settings).not.toHaveProperty(name);
});
