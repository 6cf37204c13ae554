import { errorsOf } from '#lib/control/operations/usage/figures';
import type { Sums } from '#lib/control/operations/usage/sums';
import { errorColumns, usageColumns } from '#lib/gateway/settlement/usage/columns';

/** How the largest groups of a chart are chosen. */
export const ranks = ['cost', 'calls', 'tokens', 'errors'] as const;
export type Rank = (typeof ranks)[number];

interface Ranked {
  readonly value: string;
  readonly sums: Sums;
}

const tokenClasses = ['input', 'cachedInput', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;

const amounts: Readonly<Record<Rank, (sums: Sums) => bigint>> = {
  cost: ({ costNano }) => costNano,
  calls: ({ calls }) => BigInt(calls),
  tokens: ({ used }) => BigInt(tokenClasses.reduce((sum, name) => sum + used[name], 0)),
  errors: (sums) => BigInt(errorsOf(sums)),
};

/** The columns of sums that a ranking compares. */
export const rankColumns: Readonly<Record<Rank, readonly string[]>> = {
  cost: ['cost_nano'],
  calls: ['calls', 'cost_nano'],
  tokens: [...tokenClasses.map((name) => usageColumns[name]), 'cost_nano'],
  errors: [...Object.values(errorColumns), 'cost_nano'],
};

/** Largest first, then most expensive, then by name. */
export function ranked<R extends Ranked>(rank: Rank, groups: readonly R[]): R[] {
  const orders = [amounts[rank], amounts.cost];
  return [...groups].sort((a, b) => {
    for (const amount of orders) {
      const [one, other] = [amount(a.sums), amount(b.sums)];
      if (one !== other) return one > other ? -1 : 1;
    }
    return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  });
}
