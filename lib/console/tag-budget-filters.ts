import { createLoader, createSerializer, parseAsString } from 'nuqs/server';

/** What the page of budgets shows, as in its URL. */
export const tagBudgetFilters = {
  /** Part of the name of a tag or of a value. */
  q: parseAsString,
  sort: parseAsString,
  columns: parseAsString,
  after: parseAsString,
  /** The end user, or the value of the tag, that is looked up. */
  value: parseAsString,
  tag: parseAsString,
};

export const loadTagBudgets = createLoader(tagBudgetFilters);

/** The URL of the page: `tagBudgetsUrl('/acme/tag-budgets', { value: 'user-17' })`. */
export const tagBudgetsUrl = createSerializer(tagBudgetFilters);
