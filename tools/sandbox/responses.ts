import { chatError } from '#tools/sandbox/chat';
import { type Dialect, plainFrame } from '#tools/sandbox/dialect';
import { handlesConversation, openConversation } from '#tools/sandbox/responses/conversations';
import { openCompact, openCount, openCreate } from '#tools/sandbox/responses/create';
import { handlesStored, openStored } from '#tools/sandbox/responses/stored';

const countPath = '/responses/input_tokens';
const compactPath = '/responses/compact';
const creating = new Set(['/responses', countPath, compactPath]);

/** The responses family as api.openai.com speaks it. */
export const responses: Dialect = {
  id: 'responses',

  handles: (method, path) =>
    (method === 'POST' && creating.has(path)) ||
    handlesStored(method, path) ||
    handlesConversation(method, path),

  open(seen, cache, memory) {
    if (handlesConversation(seen.method, seen.path)) return openConversation(seen, memory);
    if (seen.path === '/responses') return openCreate(seen, cache, memory);
    if (seen.path === compactPath) return openCompact(seen, cache, memory);
    return seen.path === countPath ? openCount(seen, memory) : openStored(seen, memory);
  },

  errorBody: (fault) => JSON.stringify({ error: chatError(fault) }),

  errorEvent: (fault) => plainFrame('error', { type: 'error', sequence_number: 0, error: chatError(fault) }),
};
