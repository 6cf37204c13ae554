'use server';

import { operatorAction } from '#lib/console/operator';
import { previewPrice } from '#lib/control/price/operations';

export const previewPriceAction = operatorAction(previewPrice);
