'use server';

import { operatorAction } from '#lib/console/operator';
import { setCredential } from '#lib/control/provider/credential';
import { testProvider } from '#lib/control/provider/test';
import { rotateSecrets } from '#lib/control/secret/operations';

export const setCredentialAction = operatorAction(setCredential);

export const testProviderAction = operatorAction(testProvider);

export const rotateSecretsAction = operatorAction(rotateSecrets);
