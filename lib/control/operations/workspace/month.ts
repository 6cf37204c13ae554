import { z } from 'zod';
import { readForecast } from '#lib/control/billing/forecast';
import { budgetModes, readMonth, type SpentMonth } from '#lib/control/billing/month';
import { read } from '#lib/control/operations/declare';
import { notFound } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { formatUsd } from '#lib/core/money';

const dollars = z.string().describe('Dollars as a decimal string.');

/** What a workspace spends in the calendar month that is running (contract: operations/workspace-month). */
export const shownMonth = z.object({
  from: z.iso.datetime().describe('Start of the month in the workspace’s time zone.'),
  to: z.iso.datetime().describe('Start of the next month, when the budget resets.'),
  spent: dollars.describe('What the ledger has posted for calls and jobs since the start of the month.'),
  forecast: z
    .object({
      amount: dollars.describe('What the month may cost by its end.'),
      days: z.int().describe('The time that is left is reckoned at the average of so many last days.'),
    })
    .nullable()
    .describe('null: the first spend is less than a day old.'),
  budget: z
    .object({
      amount: dollars,
      mode: z.enum(budgetModes),
      left: dollars.describe('What is left of it; 0 if it is used up.'),
      used: z.number().describe('Used share: 1 is all of it.'),
    })
    .nullable()
    .describe('null: the workspace has no budget.'),
});
export type ShownMonth = z.output<typeof shownMonth>;

export const showMonth = read({
  name: 'workspace.month',
  summary: 'Shows what a workspace spends this month: so far, by its end, and of its budget.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: shownMonth,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/month' }],
  line: { arguments: ['workspace'] },
  run: ({ store, scope, nowMs }) => getMonth(store, scope.workspaceId, nowMs),
});

/** The month of a workspace. @throws ControlRefused not_found. */
export async function getMonth(store: Store, workspaceId: string, nowMs: number): Promise<ShownMonth> {
  const month = await readMonth(store, workspaceId, nowMs);
  if (month === null) throw notFound('this workspace is gone', 'workspace');
  const forecast = await readForecast(store, workspaceId, month, nowMs);
  return {
    from: new Date(month.fromMs).toISOString(),
    to: new Date(month.toMs).toISOString(),
    spent: formatUsd(month.spentNano),
    forecast: forecast && { amount: formatUsd(forecast.nano), days: forecast.days },
    budget: budgetOf(month),
  };
}

function budgetOf({ budgetNano, spentNano, mode }: SpentMonth): ShownMonth['budget'] {
  if (budgetNano === null) return null;
  const leftNano = budgetNano > spentNano ? budgetNano - spentNano : 0n;
  const used = Number(spentNano) / Number(budgetNano);
  return { amount: formatUsd(budgetNano), mode, left: formatUsd(leftNano), used };
}
