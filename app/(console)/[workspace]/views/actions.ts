'use server';

import { operationAction } from '#lib/console/operation';
import { createView, deleteView, renameView } from '#lib/control/operations/view/operations';

export const createViewAction = operationAction(createView);

export const renameViewAction = operationAction(renameView);

export const deleteViewAction = operationAction(deleteView);
