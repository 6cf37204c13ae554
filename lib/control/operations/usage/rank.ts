import { errorsOf } from '#lib/control/operations/usage/figures';
import type { Sums } from '#lib/control/operations/usage/sums';

/** How the largest groups of a chart are chosen. */
export const ranks = ['cost', 'calls', 'tokens', 'errors'] as const;
export type Rank = (typeof ranks)[number];

interface Ranked {
  readonly value: string;
  readonly sums: Sums;
}

const amounts: Readonly<Record<Rank, (sums: Sums) => bigint>> = {
  cost: ({ costNano }) => costNano,
  calls: ({ calls }) => BigInt(calls),
  tokens: ({ used }) =>
    BigInt(used.input + used.cachedInput + used.cacheWrite5m + used.cacheWrite1h + used.output),
  errors: (sums) => BigInt(errorsOf(sums)),
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
