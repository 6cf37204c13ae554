'use server';

import { operationAction } from '#lib/console/operation';
import { createKey, disableKey, enableKey, revokeKey } from '#lib/control/key/operations';

/** The only answer that ever carries a key. */
export const createKeyAction = operationAction(createKey);

export const enableKeyAction = operationAction(enableKey);

export const disableKeyAction = operationAction(disableKey);

export const revokeKeyAction = operationAction(revokeKey);
