'use server';

import { operationAction } from '#lib/console/operation';
import { reconcileBilling } from '#lib/control/top-up/reconcile';

export const reconcileAction = operationAction(reconcileBilling);
