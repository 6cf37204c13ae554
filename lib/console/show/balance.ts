import { parseUsd } from '#lib/core/money';
import { showMoneyDown } from '#lib/core/show-money';

/** What a workspace may still spend, as the sidebar shows it. */
export interface ShownBalance {
  /** Formatted: "$10.00". */
  readonly available: string;
  /** The exact decimal, in dollars. */
  readonly exact: string;
  /** What is wrong with it, in a sentence; null: nothing. */
  readonly word: { readonly tone: 'bad' | 'warn'; readonly text: string } | null;
}

interface Funds {
  /** What may be spent, and what running calls hold; dollars. */
  readonly available: string;
  readonly held: string;
  /** A hard monthly budget refuses calls. */
  readonly budgetUsedUp: boolean;
  readonly low: boolean;
  /** Automatic top-ups were paused by a payment that failed, or the like. */
  readonly topUpsPaused: boolean;
}

export function showBalance(funds: Funds): ShownBalance {
  return { available: showMoneyDown(funds.available), exact: funds.available, word: wordOf(funds) };
}

/** What stops calls comes before what will. */
function wordOf({ available, held, low, topUpsPaused, budgetUsedUp }: Funds): ShownBalance['word'] {
  const freeNano = parseUsd(available);
  // What running calls hold comes back when they end.
  if (freeNano <= 0n && freeNano + parseUsd(held) > 0n)
    return { tone: 'warn', text: 'Running calls hold all funds.' };
  if (freeNano <= 0n)
    return {
      tone: 'bad',
      text: topUpsPaused
        ? 'Calls are refused: automatic top-ups are paused.'
        : 'Calls are refused until funds are added.',
    };
  if (budgetUsedUp) return { tone: 'bad', text: 'Calls are refused: the monthly budget is used up.' };
  if (topUpsPaused) return { tone: 'bad', text: 'Automatic top-ups are paused.' };
  return low ? { tone: 'warn', text: 'The balance is low.' } : null;
}
