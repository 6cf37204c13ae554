import { listProviders } from '#lib/control/provider/list';

export const providerOperations = [listProviders];
