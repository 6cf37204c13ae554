'use server';

import { operationAction } from '#lib/console/operation';
import { resumeAutoTopUp, setAutoTopUp } from '#lib/control/auto-top-up/operations';
import { setLowBalance } from '#lib/control/low-balance/operations';
import { createTopUp } from '#lib/control/top-up/operations';
import { openPortal } from '#lib/control/top-up/portal';

export const createTopUpAction = operationAction(createTopUp);
export const setAutoTopUpAction = operationAction(setAutoTopUp);
export const resumeAutoTopUpAction = operationAction(resumeAutoTopUp);
export const openPortalAction = operationAction(openPortal);
export const setLowBalanceAction = operationAction(setLowBalance);
