'use server';

import { operationAction } from '#lib/console/operation';
import { operatorAction } from '#lib/console/operator';
import { addProvider } from '#lib/control/operations/provider/add';
import { setCredential } from '#lib/control/operations/provider/credential';
import { discoverModels } from '#lib/control/operations/provider/discover';
import { offerModels } from '#lib/control/operations/provider/offer';
import { setProvider, withdrawProvider } from '#lib/control/operations/provider/set';
import { testProvider } from '#lib/control/operations/provider/test';
import { rotateSecrets } from '#lib/control/operations/secret/operations';

export const setCredentialAction = operatorAction(setCredential);

export const testProviderAction = operatorAction(testProvider);

export const rotateSecretsAction = operatorAction(rotateSecrets);

export const addProviderAction = operatorAction(addProvider);

export const discoverModelsAction = operatorAction(discoverModels);

export const offerModelsAction = operatorAction(offerModels);

export const offerOneAction = operationAction(offerModels);

export const setProviderAction = operationAction(setProvider);

export const setAcceptingAction = operatorAction(setProvider);

export const withdrawAction = operationAction(withdrawProvider);
