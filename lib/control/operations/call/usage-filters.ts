import { more } from '#lib/control/operations/call/figure-filters';
import { optional } from '#lib/control/operations/field/field';
import { choice, words } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';
import { errorClasses, errorClassSql } from '#lib/gateway/settlement/pure/error-class';
import { countedModelSql } from '#lib/gateway/settlement/usage/counted-model';

/** What became of a call: `ok`, or the class of its error; `error` is any of those. */
const outcomes = ['ok', 'error', ...errorClasses.filter((name) => name !== 'other')] as const;
const errorClass = errorClassSql('c.');

/** Stands for calls that usage counts under no model, or under no provider. */
export const noneCounted = 'none';

/** Filters by which a figure of usage leads to exactly the calls that it counts. */
export const usageFilters = {
  outcome: filter({
    field: optional(
      choice(
        { label: 'Outcome', help: 'What became of it, as usage counts it.', group: more, example: 'limit' },
        outcomes,
      ),
    ),
    sql: (outcome) =>
      `coalesce(${errorClass}, 'ok') = ${outcome} OR (${outcome} = 'error' AND ${errorClass} IS NOT NULL)`,
  }),
  countedModel: filter({
    field: optional(
      words({
        label: 'Counted model',
        help: 'The one that usage counts it under: that answered, else that was asked for; "none" without either.',
        group: more,
        example: 'openai/gpt-4.1',
      }),
    ),
    parameter: (given) => (given === noneCounted ? '' : given),
    sql: (model) => `${countedModelSql('c.')} = ${model}`,
  }),
};
