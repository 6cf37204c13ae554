import { describe, expect, it } from 'vitest';
import { keyRowOf } from '#lib/console/show/key/rows';
import { keyStatusOf } from '#lib/console/show/key/status';
import type { ShownKey } from '#lib/control/operations/key/settings';

const key: ShownKey = {
  id: '01890000-0000-7000-8000-000000000000',
  workspace: 'acme',
  display: 'mg_abcd…wxyz',
  earlier: null,
  status: 'active',
  quotaExhausted: false,
  createdBy: null,
  ownerRemoved: false,
  lastUsedAt: null,
  lastTriedAt: null,
  createdAt: '2026-11-01T00:00:00.000Z',
  refusing: null,
  spent: { day: '0.0042', d7: '0.01', d30: '0.02', total: '0.02' },
  name: 'web',
  models: null,
  dailyCap: '0.004',
  d7Cap: '25',
  d30Cap: null,
  quota: '15',
  rpm: 60,
  tpm: null,
  concurrency: null,
  maxOutputTokens: null,
  content: 'inherit',
  idempotency: 'inherit',
  cache: 'inherit',
  expiresAt: null,
};
const place = { timeZone: 'UTC', nowMs: Date.parse('2026-11-25T12:00:00Z') };

function statusFor(refusing: Partial<NonNullable<ShownKey['refusing']>>, more: Partial<ShownKey> = {}) {
  const whole = { cause: 'day', code: 'day_limit_reached', until: null, latest: null, ...refusing } as const;
  return keyStatusOf({ ...key, ...more, refusing: whole }, place);
}

describe('the status of a key', () => {
  it('is active while its calls are served', () => {
    expect(keyStatusOf(key, place)).toMatchObject({ tone: 'good', text: 'Active', note: null });
  });

  it('says which cap is reached, with what was spent and when it resets', () => {
    expect(statusFor({ until: '2026-11-26T00:00:00.000Z' })).toEqual({
      tone: 'bad',
      text: 'Cap reached',
      note: 'resets 26 Nov, 00:00',
      why: 'This key has spent $0.0042 of its cap of $0.004 a day: calls are refused with 402 until 26 Nov, 00:00 (in 12 h), or until the cap is raised.',
    });
    expect(statusFor({ cause: 'd7', code: 'd7_limit_reached' })).toMatchObject({ note: null });
  });

  it('says how many calls a rate limit refused, and which one', () => {
    const latest = { at: '2026-11-25T11:56:00.000Z', model: null, refused: 3, calls: 20 };
    const { note, why } = statusFor({ cause: 'rate', code: 'api_key_rpm_exceeded', latest });
    expect(note).toBe('3 of the last 20');
    expect(why).toContain('the latest 4 min ago, by the limit of 60 requests a minute of this key.');
    const ofWorkspace = statusFor({ cause: 'rate', code: 'workspace_concurrency_exceeded', latest });
    expect(ofWorkspace.why).toContain('by the limit of concurrent calls of the workspace.');
  });

  it('names the model of a refused call, the day of an expiry, and where funds come from', () => {
    const latest = { at: '2026-11-25T11:56:00.000Z', model: 'a/b', refused: 1, calls: 2 };
    expect(statusFor({ cause: 'model', latest }).why).toContain('“a/b”');
    expect(statusFor({ cause: 'expired' }, { expiresAt: '2026-11-24T23:59:59.000Z' }).note).toBe(
      'on 24 Nov 2026',
    );
    expect(statusFor({ cause: 'models' }, { models: ['a/b'] }).why).toContain('may call (a/b)');
    expect(statusFor({ cause: 'funds' }).why).toContain('Billing');
    expect(statusFor({ cause: 'budget', until: '2026-12-01T00:00:00.000Z' })).toMatchObject({
      text: 'Budget used up',
      note: 'resets 1 Dec, 00:00',
    });
  });
});

it('a key whose calls were all refused was tried, though it was never used', () => {
  const lastTriedAt = '2026-11-25T11:59:00.000Z';
  const of = (more: Partial<ShownKey>) =>
    keyRowOf({ ...key, ...more }, { workspace: 'acme', ...place }).lastUsed;
  expect(of({})).toBeNull();
  expect(of({ lastTriedAt })).toMatchObject({ text: 'Never answered', note: 'last tried 1 min ago' });
  expect(of({ lastUsedAt: lastTriedAt })).toMatchObject({ text: '1 min ago', note: null });
});

it('the limits of a key name each of its caps once, the nearest with its use', () => {
  const { cap, limits } = keyRowOf(key, { workspace: 'acme', ...place });
  expect(cap?.text).toBe('105% of $0.004 a day');
  expect(limits).toEqual(['$15.00 lifetime', '$25.00 in 7 days', '60 RPM']);
});
