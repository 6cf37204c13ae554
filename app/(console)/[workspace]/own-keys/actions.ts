'use server';

import { operationAction } from '#lib/console/operation';
import {
  createOwnKey,
  deleteOwnKey,
  setOwnKey,
  testOwnKey,
} from '#lib/control/operations/own-key/operations';

export const createOwnKeyAction = operationAction(createOwnKey);

export const setOwnKeyAction = operationAction(setOwnKey);

export const testOwnKeyAction = operationAction(testOwnKey);

export const deleteOwnKeyAction = operationAction(deleteOwnKey);
