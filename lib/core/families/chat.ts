import { abilityFields, chatAbilities } from '#lib/core/families/chat/abilities';
import { providerTool, readChatAsk } from '#lib/core/families/chat/ask';
import { batchJobs, batchOperations, shownBatch } from '#lib/core/families/chat/batches';
import { chatEdits, injectsUsage } from '#lib/core/families/chat/edits';
import { fileOperations, readFile, shownFile } from '#lib/core/families/chat/files';
import { chatErrorIn, chatOutputBytes } from '#lib/core/families/chat/output';
import { spokenIn } from '#lib/core/families/chat/spoken';
import { storedIn, storedOperations, storeFields } from '#lib/core/families/chat/stored';
import { ChatStream } from '#lib/core/families/chat/stream';
import { readChatUsage } from '#lib/core/families/chat/usage';
import { type Family, ownPath } from '#lib/core/families/family';
import { faultReader } from '#lib/core/families/reading/fault';
import { stateFields } from '#lib/core/families/reading/stored-state';

/** The chat-completions family, all compatible dialects included. */
export const chat: Family = {
  id: 'chat',
  operations: [
    {
      name: 'chat.create',
      family: 'chat',
      method: 'POST',
      path: 'chat/completions',
      prefixes: ['v1'],
      steps: 'generate',
      budgeted: true,
      fields: {
        ...stateFields,
        ...storeFields,
        ...abilityFields,
        model: {},
        stream: {},
        stream_options: { fields: { include_usage: {} } },
        max_tokens: {},
        max_completion_tokens: {},
        n: {},
        service_tier: {},
        speed: {},
        prompt_cache_key: {},
        tools: { each: { type: { only: providerTool } } },
        web_search_options: {},
        audio: {},
        messages: {
          each: {
            audio: { fields: { id: { guarded: true } } },
            content: { each: { file: { fields: { file_id: { guarded: true } } } } },
          },
        },
      },
    },
    ...storedOperations,
    ...fileOperations,
    ...batchOperations,
  ],
  readAsk: readChatAsk,
  abilities: chatAbilities,
  readStored: (raw) => (raw.operation.name === 'files.create' ? readFile(raw) : {}),
  edits: chatEdits,
  injectsUsage,
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  readUsage: readChatUsage,
  outputBytes: chatOutputBytes,
  errorIn: chatErrorIn,
  streamReader: (ask) => new ChatStream(ask),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: ({ message, code }) => `data: ${JSON.stringify({ error: { message, code } })}\n\n`,
  shown: (operation, answer, stored) => {
    if (operation.name.startsWith('files.')) return shownFile(answer);
    if (operation.name.startsWith('batches.')) return shownBatch(operation, answer);
    return [...spokenIn(answer), ...storedIn(operation, answer, stored)];
  },
  jobs: batchJobs,
  signOfLife: ': keep-alive\n\n',
  clientPath: '/v1/chat/completions',
  leastBody: { messages: [{ role: 'user', content: 'hello' }] },
};
