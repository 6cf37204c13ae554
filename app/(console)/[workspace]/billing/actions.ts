'use server';

import { operationAction } from '#lib/console/operation';
import { resumeAutoTopUp, setAutoTopUp } from '#lib/control/operations/auto-top-up/operations';
import { setLowBalance } from '#lib/control/operations/low-balance/operations';
import { cancelTopUp, createTopUp } from '#lib/control/operations/top-up/operations';
import { openPortal } from '#lib/control/operations/top-up/portal';
import { setWorkspace } from '#lib/control/operations/workspace/operations';

export const cancelTopUpAction = operationAction(cancelTopUp);
export const createTopUpAction = operationAction(createTopUp);
export const setAutoTopUpAction = operationAction(setAutoTopUp);
export const resumeAutoTopUpAction = operationAction(resumeAutoTopUp);
export const openPortalAction = operationAction(openPortal);
/** The budget: the only setting that members who manage billing may change. */
export const setBudgetAction = operationAction(setWorkspace);
export const setLowBalanceAction = operationAction(setLowBalance);
