'use server';

import { operationAction } from '#lib/console/operation';
import { createManagementKey, revokeManagementKey } from '#lib/control/operations/management-key/operations';

/** Only this answer ever contains a management key. */
export const createManagementKeyAction = operationAction(createManagementKey);

export const revokeManagementKeyAction = operationAction(revokeManagementKey);
