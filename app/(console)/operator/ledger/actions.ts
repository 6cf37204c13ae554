'use server';

import { operationAction } from '#lib/console/operation';
import { startVerification } from '#lib/control/operations/verification/operations';

export const startVerificationAction = operationAction(startVerification);
