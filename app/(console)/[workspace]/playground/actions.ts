'use server';

import { operationAction } from '#lib/console/operation';
import { openPlayground } from '#lib/control/playground/operations';

export const openPlaygroundAction = operationAction(openPlayground);
