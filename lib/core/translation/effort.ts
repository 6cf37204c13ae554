import type { Conversation } from '#lib/core/translation/conversation';

/** How much a model should think; undefined: as its provider sees fit. */
export type Effort = Conversation['reasoning'];

/**
 * A budget of thinking as an effort, because budgets differ from model to model, and most take none.
 * @param tokens 0: no thinking; less: as the provider sees fit.
 */
export function effortOfBudget(tokens: number): Effort {
  if (tokens < 0) return undefined;
  if (tokens === 0) return 'none';
  if (tokens <= 4_096) return 'low';
  return tokens <= 16_384 ? 'medium' : 'high';
}
