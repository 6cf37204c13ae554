import { describe, expect, it } from 'vitest';
import { type KeyFacts, type LatestCalls, refusingOf } from '#lib/control/operations/key/refusing';

const nowMs = Date.parse('2026-11-25T12:00:00Z');
const row = {
  status: 'active',
  expiresAt: null,
  quotaExhausted: false,
  spentNano: 0n,
  quotaNano: null,
  dailyCapNano: null,
  d7CapNano: null,
  d30CapNano: null,
};
const facts: KeyFacts = {
  spend: { dayNano: 10n, d7Nano: 20n, d30Nano: 30n },
  ownerRemoved: false,
  workspace: { suspended: false, fundsNano: 1n, budgetEnds: null, timeZone: 'Asia/Kathmandu' },
  freesAt: { d7: new Date('2026-11-27T08:00:00Z'), d30: null },
  latest: null,
  unserved: null,
};
const quiet: LatestCalls = {
  calls: 20,
  code: null,
  model: 'a/b',
  at: new Date('2026-11-25T11:59:00Z'),
  limited: 0,
  limitedCode: null,
  limitedAt: null,
};
const limited: LatestCalls = {
  ...quiet,
  limited: 3,
  limitedCode: 'api_key_rpm_exceeded',
  limitedAt: new Date('2026-11-25T11:58:00Z'),
};
const everything = {
  row: {
    ...row,
    status: 'revoked',
    expiresAt: new Date(0),
    quotaExhausted: true,
    spentNano: 9n,
    quotaNano: 9n,
    dailyCapNano: 10n,
    d7CapNano: 20n,
    d30CapNano: 30n,
  },
  facts: {
    ...facts,
    ownerRemoved: true,
    workspace: { ...facts.workspace, suspended: true, fundsNano: 0n, budgetEnds: new Date(nowMs) },
    latest: limited,
    unserved: 'model_not_allowed' as const,
  },
};

describe('what a key’s next call would be refused by (contract: operations/key-show)', () => {
  it('is nothing while nothing stands in its way', () => {
    expect(refusingOf(row, { ...facts, latest: quiet }, nowMs)).toBeNull();
    const caps = { dailyCapNano: 11n, d7CapNano: 21n, d30CapNano: 31n, quotaNano: 1n };
    expect(refusingOf({ ...row, ...caps }, facts, nowMs)).toBeNull();
    expect(refusingOf({ ...row, expiresAt: new Date(nowMs + 1) }, facts, nowMs)).toBeNull();
  });

  it.each([
    ['day', { dailyCapNano: 10n }, 'day_limit_reached', '2026-11-25T18:15:00.000Z'],
    ['d7', { d7CapNano: 20n }, 'd7_limit_reached', '2026-11-27T08:00:00.000Z'],
    ['d30', { d30CapNano: 30n }, 'd30_limit_reached', null],
    ['quota', { spentNano: 5n, quotaNano: 5n }, 'quota_exceeded', null],
    ['expired', { expiresAt: new Date(nowMs) }, 'apikey_inactive', null],
    ['disabled', { status: 'inactive' }, 'apikey_inactive', null],
  ])('is %s, with the moment at which it ends', (cause, change, code, until) => {
    expect(refusingOf({ ...row, ...change }, facts, nowMs)).toEqual({ cause, code, until, latest: null });
  });

  it('follows the order of admission', () => {
    const steps = [
      ['revoked', { row: { status: 'inactive' } }],
      ['disabled', { row: { status: 'active' } }],
      ['expired', { row: { expiresAt: null } }],
      ['maker', { facts: { ownerRemoved: false } }],
      [
        'suspended',
        { facts: { workspace: { ...facts.workspace, fundsNano: 0n, budgetEnds: new Date(nowMs) } } },
      ],
      ['quota', { row: { quotaExhausted: false } }],
      ['models', { facts: { unserved: null } }],
      ['funds', { facts: { workspace: { ...facts.workspace, budgetEnds: new Date(nowMs) } } }],
      ['budget', { facts: { workspace: facts.workspace } }],
      ['day', { row: { dailyCapNano: null } }],
      ['d7', { row: { d7CapNano: null } }],
      ['d30', { row: { d30CapNano: null } }],
      ['quota', { row: { quotaNano: null } }],
      ['rate', { facts: { latest: null } }],
    ] as const;
    let now: { row: Parameters<typeof refusingOf>[0]; facts: KeyFacts } = everything;
    for (const [cause, next] of steps) {
      expect(refusingOf(now.row, now.facts, nowMs)?.cause).toBe(cause);
      now = {
        row: { ...now.row, ...('row' in next ? next.row : {}) },
        facts: { ...now.facts, ...('facts' in next ? next.facts : {}) },
      };
    }
    expect(refusingOf(now.row, now.facts, nowMs)).toBeNull();
  });

  it('is a rate limit that refused some of its latest calls, the last one served or not', () => {
    expect(refusingOf(row, { ...facts, latest: limited }, nowMs)).toEqual({
      cause: 'rate',
      code: 'api_key_rpm_exceeded',
      until: null,
      latest: { at: '2026-11-25T11:58:00.000Z', model: null, refused: 3, calls: 20 },
    });
  });

  it('is the model of its newest call, when that was refused for it', () => {
    const latest = { ...limited, code: 'model_not_allowed' };
    expect(refusingOf(row, { ...facts, latest }, nowMs)).toMatchObject({
      cause: 'model',
      code: 'model_not_allowed',
      latest: { model: 'a/b', at: quiet.at.toISOString() },
    });
  });
});
