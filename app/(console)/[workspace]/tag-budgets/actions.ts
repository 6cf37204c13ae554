'use server';

import { operationAction } from '#lib/console/operation';
import {
  createTagBudget,
  deleteTagBudget,
  setTagBudget,
} from '#lib/control/operations/tag-budget/operations';

export const createTagBudgetAction = operationAction(createTagBudget);

export const setTagBudgetAction = operationAction(setTagBudget);

export const deleteTagBudgetAction = operationAction(deleteTagBudget);
