import { describe, expect, it } from 'vitest';
import { noticesOf } from '#lib/console/show/notices';
import type { Overview } from '#lib/control/operations/overview/operations';

const well: Overview = {
  called: true,
  available: '100',
  held: '0',
  topUpsPaused: null,
  simulated: '0',
  month: {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-12-01T00:00:00.000Z',
    spent: '41',
    forecast: null,
    budget: null,
  },
  lowBalance: null,
  perDay: '1',
  daysLeft: 100,
  caps: [],
  offers: [],
};
const notices = (found: Partial<Overview>, limited = 0) =>
  noticesOf({ ...well, ...found }, 'acme', { limited, limitedHref: '/acme/logs?outcome=limit' });

describe('what needs attention', () => {
  it('is nothing where all is well', () => {
    expect(notices({})).toEqual([]);
    expect(notices({ perDay: '0', daysLeft: null })).toEqual([]);
  });

  it.each([
    [{ available: '0', daysLeft: 0 }, 'bad', 'No funds left'],
    [{ available: '-3', daysLeft: null }, 'bad', 'No funds left'],
    [{ available: '2', daysLeft: 2 }, 'warn', '$2.00 lasts 2 days'],
    [{ available: '9', lowBalance: '10' }, 'warn', 'The balance is below $10.00: $9.00 is available'],
    [{ available: '-6.11', daysLeft: null }, 'bad', 'No funds left (−$6.11)'],
    [{ available: '0', held: '4' }, 'warn', 'Running calls hold all funds ($4.00)'],
  ])('is the balance of %j', (found, tone, text) => {
    expect(notices(found)).toEqual([expect.objectContaining({ tone, text: expect.stringContaining(text) })]);
  });

  it.each([
    ['hard', '41', 1, 'bad', 'The monthly budget of $41.00 is used up: calls are refused with 402'],
    ['warning', '41', 1, 'warn', '$41.00 of the monthly budget of $41.00 is spent.'],
    ['hard', '50', 0.82, 'warn', '$41.00 of the monthly budget of $50.00 is spent.'],
  ] as const)('is a %s budget of $%s', (mode, amount, used, tone, text) => {
    const month = { ...well.month, budget: { amount, mode, left: '0', used } };
    expect(notices({ month })).toEqual([
      expect.objectContaining({ id: 'budget', tone, text: expect.stringContaining(text) }),
    ]);
    expect(notices({ month: { ...month, budget: { ...month.budget, used: 0.79 } } })).toEqual([]);
  });

  it('paused automatic top-ups are the first notice, with the reason', () => {
    const topUpsPaused = { reason: 'declined', detail: 'insufficient_funds', at: '2026-11-25T12:00:00.000Z' };
    const [first, second] = notices({ available: '0', topUpsPaused });
    expect(first).toMatchObject({
      tone: 'bad',
      text: 'Automatic top-ups are paused. The card was declined (insufficient funds). Save another card or contact the bank, then resume.',
      link: { href: '/acme/billing' },
    });
    expect(second?.text).toContain('No funds left');
  });

  it('is a cap that is nearly used up, and one that refuses calls, with the way to the keys', () => {
    const cap = { key: 'k', name: 'web', span: 'day' as const, spent: '8', cap: '10', used: 0.8 };
    const link = { href: '/acme/keys', label: 'API keys' };
    expect(notices({ caps: [cap] })).toMatchObject([
      { tone: 'warn', text: 'Key “web” has used $8.00 of its daily cap of $10.00.', link },
    ]);
    expect(notices({ caps: [{ ...cap, spent: '11', used: 1.1 }] })).toMatchObject([
      { tone: 'bad', text: expect.stringContaining('its calls are refused with 402.'), link },
    ]);
  });

  it('is what limits refused, with the way to exactly these calls, and offers that are set aside', () => {
    const offers = [{ model: 'a/b', provider: 'one', state: 'set aside' as const }];
    expect(notices({ offers }, 1)).toMatchObject([
      { text: expect.stringContaining('1 call was refused'), link: { href: '/acme/logs?outcome=limit' } },
      { text: expect.stringContaining('one is set aside for a/b') },
    ]);
  });
});
