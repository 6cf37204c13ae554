'use server';

import { operationAction } from '#lib/console/operation';
import { setAlerts } from '#lib/control/operations/alert/operations';
import {
  alertOnView,
  endViewAlert,
  subscribeView,
  unsubscribeView,
} from '#lib/control/operations/view/operations';
import {
  createWebhook,
  deleteWebhook,
  redeliver,
  setWebhook,
  testWebhook,
} from '#lib/control/operations/webhook/operations';

export const setAlertsAction = operationAction(setAlerts);

/** Only this answer ever contains the secret of a webhook. */
export const createWebhookAction = operationAction(createWebhook);

export const setWebhookAction = operationAction(setWebhook);

export const deleteWebhookAction = operationAction(deleteWebhook);

export const testWebhookAction = operationAction(testWebhook);

export const redeliverAction = operationAction(redeliver);

export const subscribeViewAction = operationAction(subscribeView);

export const unsubscribeViewAction = operationAction(unsubscribeView);

export const alertOnViewAction = operationAction(alertOnView);

export const endViewAlertAction = operationAction(endViewAlert);
