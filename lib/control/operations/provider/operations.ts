import { setCredential } from '#lib/control/operations/provider/credential';
import { listProviders } from '#lib/control/operations/provider/list';
import { testProvider } from '#lib/control/operations/provider/test';

export const providerOperations = [listProviders, setCredential, testProvider];
