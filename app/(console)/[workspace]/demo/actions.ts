'use server';

import { operationAction } from '#lib/console/operation';
import { removeDemoData } from '#lib/control/operations/demo/operations';

export const removeDemoAction = operationAction(removeDemoData);
