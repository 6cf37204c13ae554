import { addProvider } from '#lib/control/operations/provider/add';
import { setCredential } from '#lib/control/operations/provider/credential';
import { discoverModels } from '#lib/control/operations/provider/discover';
import { listProviders } from '#lib/control/operations/provider/list';
import { offerModels } from '#lib/control/operations/provider/offer';
import { listPresets } from '#lib/control/operations/provider/presets';
import { setProvider, withdrawProvider } from '#lib/control/operations/provider/set';
import { showProvider } from '#lib/control/operations/provider/show';
import { testProvider } from '#lib/control/operations/provider/test';

export const providerOperations = [
  listProviders,
  showProvider,
  listPresets,
  addProvider,
  discoverModels,
  offerModels,
  setProvider,
  withdrawProvider,
  setCredential,
  testProvider,
];
