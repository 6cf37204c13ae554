'use server';

import { operationAction } from '#lib/console/operation';
import { createTopUp } from '#lib/control/top-up/operations';

export const createTopUpAction = operationAction(createTopUp);
