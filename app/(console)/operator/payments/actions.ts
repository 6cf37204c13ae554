'use server';

import { operationAction } from '#lib/console/operation';
import { reconcileBilling } from '#lib/control/operations/top-up/reconcile';

export const reconcileAction = operationAction(reconcileBilling);
