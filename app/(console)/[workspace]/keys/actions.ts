'use server';

import { eachAction, operationAction } from '#lib/console/operation';
import {
  createKey,
  disableKey,
  enableKey,
  restoreKey,
  revokeKey,
  setKey,
} from '#lib/control/operations/key/operations';
import { endOverlap, rotateKey } from '#lib/control/operations/key/rotate';

/** Only this answer and that of a rotation ever contain a key. */
export const createKeyAction = operationAction(createKey);

export const rotateKeyAction = operationAction(rotateKey);

export const setKeyAction = operationAction(setKey);

export const enableKeyAction = operationAction(enableKey);

export const disableKeyAction = operationAction(disableKey);

export const restoreKeyAction = operationAction(restoreKey);

export const revokeKeyAction = operationAction(revokeKey);

export const endOverlapAction = operationAction(endOverlap);

export const changeKeysAction = eachAction({
  enable: enableKeyAction,
  disable: disableKeyAction,
  revoke: revokeKeyAction,
  set: setKeyAction,
});
