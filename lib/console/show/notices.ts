import { nearBudget } from '#lib/console/show/month';
import { pauseText } from '#lib/control/billing/auto/pause-text';
import type { Overview } from '#lib/control/operations/overview/operations';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney, showMoneyDown } from '#lib/core/show-money';

/** Something that needs attention, with the page that helps. */
export interface Notice {
  readonly id: string;
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  readonly link: { readonly href: string; readonly label: string } | null;
}

/** The balance is low if it lasts fewer days than this at the current pace. */
const lowDays = 3;

const spans: Readonly<Record<string, string>> = {
  day: 'daily cap',
  d7: 'cap of 7 days',
  d30: 'cap of 30 days',
  quota: 'lifetime quota',
};

interface Recent {
  /** Calls in the last 24 hours that a limit refused. */
  readonly limited: number;
  /** Their URL in the log. */
  readonly limitedHref: string;
}

/** What is wrong, or soon will be; worst first. */
export function noticesOf(found: Overview, workspace: string, { limited, limitedHref }: Recent): Notice[] {
  const notices: Notice[] = [];
  const funds = { href: `/${workspace}/billing`, label: 'Add funds' };
  const freeNano = parseUsd(found.available);
  if (found.topUpsPaused) {
    notices.push({
      id: 'top-ups',
      tone: 'bad',
      text: `Automatic top-ups are paused. ${pauseText(found.topUpsPaused)}`,
      link: { href: `/${workspace}/billing`, label: 'Billing' },
    });
  }
  if (freeNano <= 0n && freeNano + parseUsd(found.held) > 0n) {
    notices.push({
      id: 'held',
      tone: 'warn',
      text: `Running calls hold all funds (${showMoney(found.held)}): new calls are refused with 402 until some of them end, or funds are added.`,
      link: funds,
    });
  } else if (freeNano <= 0n) {
    notices.push({
      id: 'empty',
      tone: 'bad',
      text: `No funds left (${showMoneyDown(found.available)}): calls are refused with 402 until funds are added.`,
      link: funds,
    });
  } else if (found.lowBalance !== null) {
    notices.push({
      id: 'low',
      tone: 'warn',
      text: `The balance is below ${showMoney(found.lowBalance)}: ${showMoneyDown(found.available)} is available. Without funds, calls are refused with 402.`,
      link: funds,
    });
  } else if (found.daysLeft !== null && found.daysLeft < lowDays) {
    notices.push({
      id: 'low',
      tone: 'warn',
      text: `${showMoneyDown(found.available)} lasts ${showDaysLeft(found.daysLeft)} at the rate of the last 7 days. Without funds, calls are refused with 402.`,
      link: funds,
    });
  }
  const { budget } = found.month;
  if (budget && budget.used >= nearBudget) {
    const refuses = budget.mode === 'hard' && budget.used >= 1;
    notices.push({
      id: 'budget',
      tone: refuses ? 'bad' : 'warn',
      text: refuses
        ? `The monthly budget of ${showMoney(budget.amount)} is used up: calls are refused with 402 until the month ends, or until the budget is raised.`
        : `${showMoney(found.month.spent)} of the monthly budget of ${showMoney(budget.amount)} is spent.`,
      link: { href: `/${workspace}/billing`, label: 'Billing' },
    });
  }
  for (const cap of found.caps) {
    const full = cap.used >= 1;
    notices.push({
      id: `${cap.key} ${cap.span}`,
      tone: full ? 'bad' : 'warn',
      text: `Key “${cap.name}” has used ${showMoney(cap.spent)} of its ${spans[cap.span]} of ${showMoney(cap.cap)}${full ? ': its calls are refused with 402.' : '.'}`,
      link: { href: `/${workspace}/keys`, label: 'API keys' },
    });
  }
  if (limited > 0) {
    notices.push({
      id: 'limited',
      tone: 'warn',
      text: `${showCount(limited)} ${limited === 1 ? 'call was' : 'calls were'} refused by a limit, a cap or the balance in the last 24 hours.`,
      link: { href: limitedHref, label: limited === 1 ? 'View call' : 'View calls' },
    });
  }
  for (const { model, provider, state } of found.offers) {
    notices.push({
      id: `${model} ${provider}`,
      tone: 'warn',
      text: `${provider} is set aside for ${model} after failures; ${state === 'probing' ? 'one call is retrying it' : 'calls use other providers in the meantime, if there are any'}.`,
      link: null,
    });
  }
  // What stops calls now comes before what will; otherwise the order above.
  return notices.toSorted((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'));
}

/** "half a day", "2.4 days", "120 days", "more than a year". */
export function showDaysLeft(days: number): string {
  if (days > 365) return 'more than a year';
  if (days < 1) return `${Math.max(1, Math.round(days * 24))} h`;
  const shown = days < 10 ? Number(days.toFixed(1)) : Math.floor(days);
  return `${shown} ${shown === 1 ? 'day' : 'days'}`;
}
