'use server';

import { operationAction } from '#lib/console/operation';
import { openPlayground } from '#lib/control/operations/playground/operations';

export const openPlaygroundAction = operationAction(openPlayground);
