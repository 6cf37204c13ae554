import { more } from '#lib/control/operations/call/figure-filters';
import { choice, words } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';
import { madeBy } from '#lib/control/operations/usage/sums';
import { errorClasses, errorClassSql } from '#lib/gateway/settlement/pure/error-class';
import { ownAnswerSql } from '#lib/gateway/settlement/pure/own-answer';
import { countedModelSql } from '#lib/gateway/settlement/usage/counted-model';

/** The outcome of a call: `ok` or the class of its error; `error` is any of those classes. */
const outcomes = ['ok', 'error', ...errorClasses.filter((name) => name !== 'other')] as const;
const errorClass = errorClassSql('c.');

/** Stands for calls that usage counts under no model, or under no provider. */
export const noneCounted = 'none';

/** Filters with which a figure of usage links to exactly the calls that it counts. */
export const usageFilters = {
  outcome: filter({
    field: choice(
      { label: 'Outcome', help: 'How it ended, as usage counts it.', group: more, example: 'limit' },
      outcomes,
    ),
    sql: (outcome) =>
      `coalesce(${errorClass}, 'ok') = ${outcome} OR (${outcome} = 'error' AND ${errorClass} IS NOT NULL)`,
  }),
  countedModel: filter({
    field: words({
      label: 'Counted model',
      help: 'The model that usage counts it for: the one that answered, or else the requested one; "none": neither.',
      group: more,
      example: 'openai/gpt-4.1',
    }),
    parameter: (given) => (given === noneCounted ? '' : given),
    sql: (model) => `${countedModelSql('c.')} = ${model}`,
  }),
  usage: filter({
    field: choice(
      {
        label: 'Usage',
        help: 'Whether usage counts it. Lists of models and estimates of tokens, which the gateway answers itself, are not counted.',
        group: more,
        example: 'counted',
      },
      ['counted', 'not-counted'],
    ),
    sql: (usage) => `${ownAnswerSql('c.')} = (${usage} = 'not-counted')`,
  }),
  member: filter({
    field: words({
      label: 'Member',
      help: 'Id of the user who made the API key; "none": keys that operators made.',
      group: more,
      example: '01890000-0000-7000-8000-000000000000',
    }),
    parameter: (given) => (given === noneCounted ? '' : given.toLowerCase()),
    sql: (member) => madeBy('c.key_id', member),
  }),
};
