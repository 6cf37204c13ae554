'use server';

import { operationAction } from '#lib/console/operation';
import { addCredit } from '#lib/control/operations/credit/operations';
import { grantCredit } from '#lib/control/operations/credit/promo';
import { setWorkspace } from '#lib/control/operations/workspace/operations';

export const setWorkspaceAction = operationAction(setWorkspace);

export const addCreditAction = operationAction(addCredit);

export const grantCreditAction = operationAction(grantCredit);
