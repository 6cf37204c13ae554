import { showDay, showMinute } from '#lib/console/show/time';
import type { ShownMonth } from '#lib/control/operations/workspace/month';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

/** The month of a workspace in words, for the overview, the usage page and the billing page. */
export interface MonthWords {
  readonly spent: string;
  /** null: not enough data. */
  readonly forecast: {
    readonly value: string;
    readonly exact: string;
    /** How it was reckoned. */
    readonly note: string;
  } | null;
  readonly budget: {
    readonly left: string;
    readonly exact: string;
    /** "of $50.00, resets 1 Dec, 00:00". */
    readonly note: string;
    /** Used, 0 to 100. */
    readonly percent: number;
    readonly tone: 'good' | 'warn' | 'bad';
    /** What happens, or has happened, when it is used up. */
    readonly text: string;
  } | null;
}

/** Share of a budget from which it is shown as nearly used up (contract: control-plane/alerts). */
export const nearBudget = 0.8;

/** @param zone of the workspace. Pure. */
export function monthWords({ spent, to, forecast, budget }: ShownMonth, zone: string): MonthWords {
  const endsMs = Date.parse(to);
  const resets = showMinute(endsMs, zone);
  const lastDay = showDay(endsMs - 1, zone).replace(/ \d+$/, '');
  return {
    spent: showMoney(spent),
    forecast: forecast && {
      value: showMoney(forecast.amount),
      exact: `$${forecast.amount}`,
      note: `by ${lastDay}, at the average of the last ${forecast.days === 1 ? 'day' : `${forecast.days} days`}`,
    },
    budget: budget && {
      left: showMoneyDown(budget.left),
      exact: `$${budget.left}`,
      note: `of ${showMoney(budget.amount)}, resets ${resets}`,
      percent: Math.min(100, Math.floor(budget.used * 100)),
      tone: budget.used >= 1 ? 'bad' : budget.used >= nearBudget ? 'warn' : 'good',
      text: budgetText(budget, resets),
    },
  };
}

function budgetText({ mode, used }: NonNullable<ShownMonth['budget']>, resets: string): string {
  if (mode === 'warning') return 'This budget only warns: calls are not refused when it is used up.';
  return used >= 1
    ? `Used up: calls are refused with 402 until ${resets}, or until the budget is raised.`
    : `When it is used up, calls are refused with 402 until ${resets}.`;
}

/** The month as one sentence: "$12.00 spent this month; $40.00 by 30 Nov, at the average of the last 7 days." Pure. */
export function monthSentence(month: ShownMonth, zone: string): string {
  const { spent, forecast, budget } = monthWords(month, zone);
  const parts = [
    `${spent} spent this month`,
    ...(forecast ? [`forecast ${forecast.value} ${forecast.note}`] : []),
    ...(budget ? [`${budget.left} left of the budget ${budget.note}`] : []),
  ];
  return `${parts.join('; ')}.`;
}
