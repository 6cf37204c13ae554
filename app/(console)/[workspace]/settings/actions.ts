'use server';

import { operationAction } from '#lib/console/operation';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import { setWorkspace } from '#lib/control/operations/workspace/operations';
import { renameWorkspace } from '#lib/control/operations/workspace/rename';

export const setWorkspaceAction = operationAction(setWorkspace);

export const renameWorkspaceAction = operationAction(renameWorkspace);

export const deleteWorkspaceAction = operationAction(deleteWorkspace);
