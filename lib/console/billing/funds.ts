import { formatUsd, parseUsd } from '#lib/core/money';
import { showMoney } from '#lib/core/show-money';

/** Dollars as decimal strings, as in `workspace.show`. */
export interface FundsShown {
  readonly balance: string;
  /** The part of the balance that is simulated money. */
  readonly simulated: string;
  readonly credit: string;
  readonly held: string;
  readonly available: string;
}

/** What is wrong with the funds, and what to do. */
export interface FundsWord {
  readonly tone: 'bad' | 'warn';
  readonly text: string;
}

const leastTopUpNano = 5_000_000_000n;

/** Why a balance is below zero, and how much it takes to call again; null: it is not below zero. */
export function wordOnFunds({ balance, available, credit }: Omit<FundsShown, 'simulated'>): FundsWord | null {
  if (!balance.startsWith('-')) return null;
  const below = showMoney(balance.slice(1));
  const availableNano = parseUsd(available);
  if (availableNano > 0n) {
    return {
      tone: 'warn',
      text: `The balance is ${below} below zero; your credit of ${showMoney(credit)} covers it, so calls continue. Added funds pay this off first.`,
    };
  }
  // Calls need more than zero, and a top-up has a minimum.
  const neededNano = -availableNano;
  const needed =
    neededNano < leastTopUpNano
      ? `Any top-up of $5 or more covers it`
      : `Add more than ${showMoney(formatUsd(neededNano))}`;
  return {
    tone: 'bad',
    text: `The balance is ${below} below zero: a refund, dispute, correction or the last call exceeded the balance. ${needed}; until then, calls are refused with 402 and nothing more is charged.`,
  };
}
