import { endUserName, type TagBudget, type TagRules } from '#lib/core/facts/tags';

/** What a workspace has chosen, as the database gives it as JSON; amounts in nano-dollars. */
export interface TagRulesRow {
  readonly tags: boolean;
  readonly endUsers: boolean;
  readonly budgets: readonly {
    readonly name: string;
    readonly value: string;
    readonly day: string | null;
    readonly d7: string | null;
    readonly d30: string | null;
    readonly rpm: number | null;
    readonly tpm: number | null;
  }[];
}

/** The budgets of what is not recorded bind nothing (contract: tags/choice). */
export function tagRulesOf({ tags, endUsers, budgets }: TagRulesRow): TagRules {
  const byName = new Map<string, Map<string, TagBudget>>();
  for (const { name, value, day, d7, d30, rpm, tpm } of budgets) {
    if (!(name === endUserName ? endUsers : tags)) continue;
    const byValue = byName.get(name) ?? new Map<string, TagBudget>();
    byName.set(name, byValue);
    byValue.set(value, {
      caps: { dayNano: nano(day), d7Nano: nano(d7), d30Nano: nano(d30) },
      limits: { rpm, tpm, concurrency: null },
    });
  }
  return { tags, endUsers, budgets: byName };
}

function nano(amount: string | null): bigint | null {
  return amount === null ? null : BigInt(amount);
}
