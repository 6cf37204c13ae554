import type { Dialect } from '#tools/sandbox/dialect';
import { openCreate } from '#tools/sandbox/responses/create';
import { handlesStored, openStored } from '#tools/sandbox/responses/stored';
import type { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** The responses family as api.openai.com speaks it. */
export const responses: Dialect = {
  id: 'responses',

  handles: (method, path) => (method === 'POST' && path === '/responses') || handlesStored(method, path),

  open: (seen, cache, memory) =>
    seen.path === '/responses' ? openCreate(seen, cache, memory) : openStored(seen, memory),

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault) }),

  errorEvent: (fault) => ({
    name: 'error',
    data: JSON.stringify({ type: 'error', sequence_number: 0, error: errorObject(fault) }),
    content: false,
    tokens: 0,
  }),
};

function errorObject({ status, message, code, param }: ProviderFault): object {
  const type = status === 429 ? 'requests' : status >= 500 ? 'server_error' : 'invalid_request_error';
  return { message, type, param, code };
}
