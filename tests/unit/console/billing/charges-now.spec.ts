import { describe, expect, it } from 'vitest';
import { chargesNow } from '#lib/console/billing/charges-now';
import type { ShownAutoTopUp } from '#lib/control/operations/auto-top-up/find';

const shown: ShownAutoTopUp = {
  enabled: false,
  threshold: '5',
  amount: '25',
  monthlyCap: '100',
  card: { brand: 'visa', last4: '4242', expires: '2034-12' },
  paused: null,
  balance: '5',
  ordered: false,
  waitsUntil: null,
  thisMonth: '75',
  last: null,
};
const typed = { enabled: true, threshold: '5', amount: '25', monthlyCap: '100' };
const paused = { reason: 'declined', detail: null, at: '2026-11-26T00:00:00Z' } as const;

describe('what saving automatic top-ups charges at once (contract: money/auto-top-up)', () => {
  it.each([
    ['a balance at the threshold', {}, {}],
    ['a balance below zero', { balance: '-0.5' }, { threshold: '0' }],
    ['a threshold that is raised to it', { balance: '30' }, { threshold: '30' }],
  ])('is told for %s', (_, state, limits) => {
    expect(chargesNow({ ...shown, ...state }, { ...typed, ...limits })).toBe('Charges $25 now.');
  });

  it.each([
    ['a balance above the threshold', { balance: '5.000000001' }, {}],
    ['top-ups that stay off', {}, { enabled: false }],
    ['no card', { card: null }, {}],
    ['one that is ordered already', { ordered: true }, {}],
    ['a month that is used up', { thisMonth: '75.01' }, {}],
    ['top-ups that stay paused', { paused }, {}],
    ['a threshold that is no amount', {}, { threshold: 'five' }],
    ['an amount that is no amount', {}, { amount: '' }],
  ])('is nothing with %s', (_, state, limits) => {
    expect(chargesNow({ ...shown, ...state }, { ...typed, ...limits })).toBeNull();
  });

  it('is told before paused ones are resumed', () => {
    expect(chargesNow({ ...shown, enabled: true, paused }, typed, true)).toBe('Charges $25 now.');
  });
});
