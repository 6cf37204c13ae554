'use server';

import { operationAction } from '#lib/console/operation';
import { addCredit } from '#lib/control/credit/operations';
import { grantCredit } from '#lib/control/credit/promo';
import { setWorkspace } from '#lib/control/workspace/operations';

export const setWorkspaceAction = operationAction(setWorkspace);

export const addCreditAction = operationAction(addCredit);

export const grantCreditAction = operationAction(grantCredit);
