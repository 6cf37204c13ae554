import { describe, expect, it } from 'vitest';
import type { Catalogue, KeyFacts, KeySnapshot } from '#lib/core/facts/snapshot';
import { isTimeZone } from '#lib/core/time-zone';
import {
  checkBudget,
  checkKey,
  checkLimits,
  checkModel,
  decideLimits,
} from '#lib/gateway/admission/pure/decide';
import { type LimitWaits, noWaits } from '#lib/gateway/limits/pure/limits';
import { snapshotOf } from '#tests/support/admission';
import { askChat } from '#tests/unit/families/make';

const nowMs = Date.UTC(2026, 5, 1);

function withKey(change: Partial<KeyFacts>, rest: Partial<KeySnapshot> = {}): KeySnapshot {
  const snapshot = snapshotOf({});
  return { ...snapshot, ...rest, key: { ...snapshot.key, ...change } };
}

describe('the state of a key (contract: authentication/states, authentication/inactive-reasons)', () => {
  const suspended = { ...snapshotOf({}).workspace, suspended: true };
  it.each([
    ['active', withKey({}), null],
    ['revoked', withKey({ status: 'revoked', quotaExhausted: true }), 'invalid_api_key'],
    ['rotated out', withKey({}, { secretUntilMs: nowMs }), 'invalid_api_key'],
    ['rotating', withKey({}, { secretUntilMs: nowMs + 1 }), null],
    ['disabled', withKey({ status: 'inactive', quotaExhausted: true }), 'apikey_inactive'],
    ['expired', withKey({ expiresAtMs: nowMs }), 'apikey_inactive'],
    ['not yet expired', withKey({ expiresAtMs: nowMs + 1 }), null],
    ['of a member who left', withKey({ ownerRemoved: true }), 'apikey_inactive'],
    [
      'of a suspended workspace',
      withKey({ quotaExhausted: true }, { workspace: suspended }),
      'apikey_inactive',
    ],
    ['with its quota used up', withKey({ quotaExhausted: true }), 'quota_exceeded'],
  ])('%s', (_name, snapshot, code) => {
    expect(checkKey(snapshot, nowMs)?.code ?? null).toBe(code);
  });

  it('says which of the reasons for 403 holds', () => {
    const messages = [
      withKey({ status: 'inactive' }),
      withKey({ expiresAtMs: 0 }),
      withKey({ ownerRemoved: true }),
      withKey({}, { workspace: suspended }),
    ].map((snapshot) => checkKey(snapshot, nowMs)?.message);
    expect(new Set(messages).size).toBe(4);
  });
});

describe('model and budget (contract: admission/model, admission/output-budget)', () => {
  const models = new Map([['a/known', {}]]) as unknown as Catalogue['models'];
  const catalogue: Catalogue = { models, providers: new Map() };

  it('distinguishes an unknown model from one outside the scope', () => {
    const scoped = withKey({ models: new Set(['a/other']) });
    expect(checkModel('a/known', withKey({}), catalogue)).toBeNull();
    expect(checkModel('a/known', scoped, catalogue)).toMatchObject({
      code: 'model_not_allowed',
      message: expect.stringContaining('does not allow'),
    });
    expect(checkModel('a/other', scoped, catalogue)).toMatchObject({
      code: 'model_not_allowed',
      message: expect.stringContaining('unknown'),
    });
  });

  const { operation } = askChat({ model: 'm' });
  const codeOf = (budget: number | null, choices: number, maxOutputTokens: number | null) =>
    checkBudget({ budget, choices, operation }, withKey({ maxOutputTokens }).key)?.code ?? 'passes';
  const tooMany = 'max_output_tokens_exceeded';

  it.each([
    [100, 1, 100, 'passes'],
    [101, 1, 100, tooMany],
    [50, 2, 100, 'passes'],
    [51, 2, 100, tooMany],
    [10, 20, 10, tooMany],
    [0, 1_000, 10, 'passes'],
    [null, 100, 100, 'passes'],
    [null, 101, 100, tooMany],
    [9_007_199_254_740_991, 9_007_199_254_740_991, 100, tooMany],
    [1e9, 1e9, null, 'passes'],
  ] as const)(
    'a budget of %s for each of %s choices under a maximum of %s: %s',
    (budget, choices, most, then) => {
      expect(codeOf(budget, choices, most)).toBe(then);
    },
  );

  it('ignores operations without a text budget', () => {
    const { budgeted: _, ...pictures } = operation;
    const ask = { budget: null, choices: 10, operation: pictures };
    expect(checkBudget(ask, withKey({ maxOutputTokens: 5 }).key)).toBeNull();
  });
});

describe('the validity of stored limits (contract: admission/stored-limits)', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %s as a limit', (value) => {
    for (const kind of ['rpm', 'tpm', 'concurrency']) {
      expect(checkLimits(snapshotOf({ limits: { [kind]: value } }))?.code).toBe('rate_limit_config_invalid');
      expect(checkLimits(snapshotOf({ workspaceLimits: { [kind]: value } }))?.code).toBe(
        'rate_limit_config_invalid',
      );
    }
  });

  it('names the limit, and whether it is the API key’s or the workspace’s', () => {
    const named = { rpm: 'requests-per-minute', tpm: 'tokens-per-minute', concurrency: 'concurrency' };
    for (const [kind, name] of Object.entries(named)) {
      const ofKey = checkLimits(snapshotOf({ limits: { [kind]: 0 } }))?.message;
      expect(ofKey).toContain(`The ${name} limit stored for this API key `);
      const ofWorkspace = checkLimits(snapshotOf({ workspaceLimits: { [kind]: 0 } }))?.message;
      expect(ofWorkspace).toContain(`The ${name} limit stored for this workspace `);
    }
  });

  it('refuses a zone that is none, and takes those of the tz database', () => {
    expect(checkLimits(snapshotOf({ timeZone: 'Mars/Olympus' }))?.code).toBe('rate_limit_config_invalid');
    expect(['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia'].every(isTimeZone)).toBe(true);
    expect(['+02:00', '', 'Berlin', 'now()'].some(isTimeZone)).toBe(false);
  });
});

describe('limits that are reached (contract: limits/order, limits/retry-after)', () => {
  const limits = { rpm: 10, tpm: 1_000, concurrency: 2 };
  const waits = (part: Partial<LimitWaits>): LimitWaits => ({ ...noWaits, limits, ...part });

  it.each([
    ['api_key_rpm_exceeded', waits({ rpmMs: 1, tpmMs: 1, concurrencyFull: true }), waits({ rpmMs: 1 })],
    ['api_key_tpm_exceeded', waits({ tpmMs: 1, concurrencyFull: true }), waits({ rpmMs: 1 })],
    ['api_key_concurrency_exceeded', waits({ concurrencyFull: true }), waits({ rpmMs: 1 })],
    ['workspace_rpm_exceeded', noWaits, waits({ rpmMs: 1, tpmMs: 1, concurrencyFull: true })],
    ['workspace_tpm_exceeded', noWaits, waits({ tpmMs: 1, concurrencyFull: true })],
    ['workspace_concurrency_exceeded', noWaits, waits({ concurrencyFull: true })],
  ])('answers %s for the first one violated', (code, key, workspace) => {
    expect(decideLimits(key, workspace)?.code).toBe(code);
  });

  it('answers the first one in the order, whatever else is violated', () => {
    const order = [
      'api_key_rpm_exceeded',
      'api_key_tpm_exceeded',
      'api_key_concurrency_exceeded',
      'workspace_rpm_exceeded',
      'workspace_tpm_exceeded',
      'workspace_concurrency_exceeded',
    ];
    for (let which = 0; which < 2 ** order.length; which += 1) {
      const is = (place: number) => (which >> place) % 2 === 1;
      const level = (from: number) =>
        waits({
          rpmMs: is(from) ? 1_000 : 0,
          tpmMs: is(from + 1) ? 1_000 : 0,
          concurrencyFull: is(from + 2),
        });
      const first = order.find((_, place) => is(place));
      expect(decideLimits(level(0), level(3))?.code, `of ${which.toString(2)}`).toBe(first);
    }
  });

  it('names the longest wait over all of them in whole seconds, rounded up', () => {
    const refused = decideLimits(waits({ rpmMs: 200, tpmMs: 4_001 }), waits({ rpmMs: 31_999 }));
    expect(refused).toMatchObject({ code: 'api_key_rpm_exceeded', retryAfterSeconds: 32 });
    expect(decideLimits(waits({ rpmMs: 0.5 }), noWaits)?.retryAfterSeconds).toBe(1);
    expect(decideLimits(noWaits, waits({ tpmMs: 60_000 }))?.retryAfterSeconds).toBe(60);
    expect(decideLimits(noWaits, waits({ tpmMs: 1_001 }))?.retryAfterSeconds).toBe(2);
    expect(decideLimits(noWaits, waits({ tpmMs: 1_000 }))?.retryAfterSeconds).toBe(1);
  });

  it('gives no time for a full concurrency limit, and refuses nothing that fits', () => {
    expect(decideLimits(waits({ concurrencyFull: true }), noWaits)?.retryAfterSeconds).toBeUndefined();
    expect(decideLimits(waits({}), waits({}))).toBeNull();
  });
});
