import { setCredential } from '#lib/control/provider/credential';
import { listProviders } from '#lib/control/provider/list';
import { testProvider } from '#lib/control/provider/test';

export const providerOperations = [listProviders, setCredential, testProvider];
