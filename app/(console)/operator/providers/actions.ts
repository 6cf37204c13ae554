'use server';

import { operatorAction } from '#lib/console/operator';
import { setCredential } from '#lib/control/operations/provider/credential';
import { testProvider } from '#lib/control/operations/provider/test';
import { rotateSecrets } from '#lib/control/operations/secret/operations';

export const setCredentialAction = operatorAction(setCredential);

export const testProviderAction = operatorAction(testProvider);

export const rotateSecretsAction = operatorAction(rotateSecrets);
