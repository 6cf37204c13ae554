'use server';

import { operationAction } from '#lib/console/operation';
import { operatorAction } from '#lib/console/operator';
import { previewPrice } from '#lib/control/operations/price/operations';
import { setPrice, withdrawPrice } from '#lib/control/operations/price/set';

export const previewPriceAction = operatorAction(previewPrice);

export const setPriceAction = operatorAction(setPrice);

export const withdrawPriceAction = operationAction(withdrawPrice);
