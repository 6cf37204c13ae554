import { z } from 'zod';
import type { TagBudget } from '#generated/client';
import { optional } from '#lib/control/operations/field/field';
import { cap, id, limit, pattern, words } from '#lib/control/operations/field/kinds';
import { shapeOf, shownSettings } from '#lib/control/operations/field/settings';
import { shownSpend, shownTagRefusal } from '#lib/control/operations/tag-budget/spend';
import { endUserName, longestTagValue, type TagCaps, tagNamePattern } from '#lib/core/facts/tags';

const caps = {
  title: 'Budgets',
  help: 'In USD. The call that crosses a budget completes; the next one is refused.',
};
const limits = { title: 'Rate limits', help: 'In addition to those of the key and the workspace.' };

/** What calls with a tag may spend and ask for (contract: tags/budgets). */
export const tagBudgetSettings = {
  dailyCap: cap({
    label: 'Per day',
    help: 'From midnight to midnight in the workspace’s time zone.',
    group: caps,
    example: '1',
  }),
  d7Cap: cap({ label: 'Any 7 days', help: '', group: caps, example: '5' }),
  d30Cap: cap({ label: 'Any 30 days', help: '', group: caps, example: '15' }),
  rpm: limit({ label: 'Requests a minute', help: '', unit: 'requests a minute', group: limits, example: 20 }),
  tpm: limit({
    label: 'Tokens a minute',
    help: '',
    unit: 'tokens a minute',
    group: limits,
    example: 50_000,
  }),
};

/** Whose budget it is; it never changes. */
export const tagBudgetSubject = {
  tag: optional(
    pattern(
      {
        label: 'Tag',
        help: 'Name of the tag. Default: the budget is one of end users.',
        placeholder: 'NAME',
        example: 'feature',
      },
      tagNamePattern,
      'must have 1 to 64 letters, digits, "_", "." or "-"',
    ),
  ),
  value: optional(
    words(
      {
        label: 'Value',
        help: 'The value of the tag or the id of the end user. Default: every value without a budget of its own, each for itself.',
        example: 'search',
      },
      longestTagValue,
    ),
  ),
};

export const tagBudgetId = id({ label: 'Budget', help: 'Its id.' });

export const shownTagBudget = z.object({
  id: z.uuid(),
  tag: z.string().nullable().describe('Name of the tag; null: it is a budget of end users.'),
  value: z
    .string()
    .nullable()
    .describe('The value or end user that it is for; null: every one without a budget of its own.'),
  ...shapeOf(tagBudgetSettings),
  createdAt: z.iso.datetime(),
});
export type ShownTagBudget = z.output<typeof shownTagBudget>;

/** A budget as the list has it, with what its value spent. */
export const listedTagBudget = shownTagBudget.extend({
  spent: shownSpend
    .nullable()
    .describe('What the value spent; null: the budget is one of each value, for itself.'),
  refusing: shownTagRefusal
    .nullable()
    .describe(
      'Why calls with the value are refused now; null: they are not, or the budget is one of each value.',
    ),
});

/** The amounts of a budget, nano-dollars. */
export function capsOf(row: TagBudget): TagCaps {
  return { dayNano: row.dailyCapNano, d7Nano: row.d7CapNano, d30Nano: row.d30CapNano };
}

export function tagBudgetOf(row: TagBudget): ShownTagBudget {
  return {
    id: row.id,
    tag: row.name === endUserName ? null : row.name,
    value: row.value === '' ? null : row.value,
    ...shownSettings(tagBudgetSettings, row),
    createdAt: row.createdAt.toISOString(),
  };
}
