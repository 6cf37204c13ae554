import { describe, expect, it } from 'vitest';
import { adjustmentQuestion } from '#lib/console/billing/adjustment';
import { showBalance } from '#lib/console/show/balance';
import { workspaceStatusOf } from '#lib/console/show/workspace-status';
import { workspaceRefusingOf } from '#lib/control/operations/workspace/refusing';

const nowMs = Date.parse('2026-11-25T12:00:00Z');
const limited = { code: 'workspace_rpm_exceeded', at: new Date('2026-11-25T11:56:00Z'), refused: 12 };
const budgetEnds = new Date('2026-11-30T23:00:00Z');
const workspace = {
  balance: '-6.111',
  credit: '0',
  budget: '50',
  timeZone: 'Europe/Berlin',
  suspendedReason: 'Unpaid invoice of October',
  rpm: 600,
  tpm: null,
  concurrency: null,
};
const statusOf = (facts: Parameters<typeof workspaceRefusingOf>[0]) =>
  workspaceStatusOf({ ...workspace, refusing: workspaceRefusingOf(facts) }, { nowMs });

describe('the status of a workspace (contract: operations/workspace-show)', () => {
  it('is the first that its calls are refused by, in the order of admission', () => {
    expect(statusOf({ suspended: true, fundsNano: 0n, budgetEnds, limited })).toMatchObject({
      tone: 'bad',
      text: 'Suspended',
      note: 'Unpaid invoice of October',
    });
    expect(statusOf({ suspended: false, fundsNano: 0n, budgetEnds, limited })).toMatchObject({
      tone: 'bad',
      text: 'No funds',
      why: 'The balance is −$6.12: every call is refused with 402 until funds are added.',
    });
    expect(statusOf({ suspended: false, fundsNano: 1n, budgetEnds, limited })).toMatchObject({
      tone: 'bad',
      text: 'Budget used up',
      note: 'resets 1 Dec, 00:00',
      why: 'The monthly budget of $50.00 is used up: every call is refused with 402 until 1 Dec, 00:00 (Europe/Berlin), or until the budget is raised.',
    });
    expect(statusOf({ suspended: false, fundsNano: 1n, budgetEnds: null, limited })).toMatchObject({
      tone: 'warn',
      text: 'Rate limited',
      note: '12 in the last hour',
      why: '12 calls were refused with 429 in the last hour, the latest 4 min ago, by the workspace’s limit of 600 requests a minute. It frees up within a minute.',
    });
    expect(statusOf({ suspended: false, fundsNano: 1n, budgetEnds: null, limited: null })).toMatchObject({
      text: 'Active',
    });
  });
});

describe('the balance in the sidebar', () => {
  const funds = { available: '34.995287', held: '0', low: false, topUpsPaused: false, budgetUsedUp: false };

  it('shows what can be spent, and says nothing while all is well', () => {
    expect(showBalance(funds)).toEqual({ available: '$34.99', exact: '34.995287', word: null });
  });

  it.each([
    [{ available: '0' }, 'bad', 'Calls are refused until funds are added.'],
    [{ available: '0', held: '2' }, 'warn', 'Running calls hold all funds.'],
    [{ available: '-1', topUpsPaused: true }, 'bad', 'Calls are refused: automatic top-ups are paused.'],
    [{ budgetUsedUp: true, low: true }, 'bad', 'Calls are refused: the monthly budget is used up.'],
    [{ topUpsPaused: true, low: true }, 'bad', 'Automatic top-ups are paused.'],
    [{ low: true }, 'warn', 'The balance is low.'],
  ])('says of %j what is wrong', (more, tone, text) => {
    expect(showBalance({ ...funds, ...more }).word).toEqual({ tone, text });
  });
});

it('an adjustment asks with the balance that it leads to', () => {
  expect(adjustmentQuestion('44.49', '-20')).toBe(
    'Subtract $20.00? The balance changes from $44.49 to $24.49.',
  );
  expect(adjustmentQuestion('-0.5', '12345678.9')).toBe(
    'Add $12,345,678.90? The balance changes from −$0.50 to $12,345,678.40.',
  );
  for (const amount of ['', '0', 'much']) expect(adjustmentQuestion('1', amount)).toBeNull();
});
