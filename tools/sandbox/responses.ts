import { chatError } from '#tools/sandbox/chat';
import { type Dialect, plainFrame } from '#tools/sandbox/dialect';
import { openCount, openCreate } from '#tools/sandbox/responses/create';
import { handlesStored, openStored } from '#tools/sandbox/responses/stored';

const countPath = '/responses/input_tokens';

/** The responses family as api.openai.com speaks it. */
export const responses: Dialect = {
  id: 'responses',

  handles: (method, path) =>
    (method === 'POST' && (path === '/responses' || path === countPath)) || handlesStored(method, path),

  open(seen, cache, memory) {
    if (seen.path === '/responses') return openCreate(seen, cache, memory);
    return seen.path === countPath ? openCount(seen, memory) : openStored(seen, memory);
  },

  errorBody: (fault) => JSON.stringify({ error: chatError(fault) }),

  errorEvent: (fault) => plainFrame('error', { type: 'error', sequence_number: 0, error: chatError(fault) }),
};
