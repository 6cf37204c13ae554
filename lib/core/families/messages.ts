import { readFile } from '#lib/core/families/chat/files';
import { budgetedEdits } from '#lib/core/families/edits';
import { type Family, type Operation, ownPath } from '#lib/core/families/family';
import { abilityFields, messagesAbilities } from '#lib/core/families/messages/abilities';
import { providerTool, readCountAsk, readMessagesAsk } from '#lib/core/families/messages/ask';
import {
  messageBatchJobs,
  messageBatchOperations,
  shownMessageBatch,
  withResultsHere,
} from '#lib/core/families/messages/batches';
import { asksForHour } from '#lib/core/families/messages/cache-time';
import { containerIn } from '#lib/core/families/messages/container';
import { madeFilesIn, messageFileOperations, shownMessageFile } from '#lib/core/families/messages/files';
import { messageOutputBytes } from '#lib/core/families/messages/output';
import { MessagesStream } from '#lib/core/families/messages/stream';
import { readMessageUsage } from '#lib/core/families/messages/usage';
import { variantEdits, variantOf, variantPath } from '#lib/core/families/messages/variant';
import { faultReader } from '#lib/core/families/reading/fault';
import { listIn, objectIn } from '#lib/core/families/reading/json';
import { stateFields } from '#lib/core/families/reading/stored-state';

const nestedName = { guarded: true } as const;

/** A stored file in the place of media. */
const source = { fields: { file_id: { guarded: true } } } as const;
/** A block inside of another one: of a document's own content, or of a tool's result. */
const innerBlock = { source, file_id: { guarded: true } } as const;
/** Where a body may name files that the provider stores (contract: batches/message-files). */
const fileFields = {
  messages: {
    each: {
      content: {
        each: {
          file_id: { guarded: true },
          source: {
            fields: { file_id: { guarded: true }, content: { each: innerBlock } },
          },
          content: { each: innerBlock },
        },
      },
    },
  },
} as const;

const create: Operation = {
  name: 'messages.create',
  family: 'messages',
  method: 'POST',
  path: 'messages',
  query: { beta: true },
  prefixes: ['v1'],
  steps: 'generate',
  budgeted: true,
  fields: {
    ...stateFields,
    ...abilityFields,
    ...fileFields,
    model: {},
    stream: {},
    max_tokens: {},
    anthropic_version: {},
    anthropic_beta: { unread: true },
    service_tier: {},
    speed: {},
    inference_geo: {},
    metadata: { fields: { user_id: {} } },
    fallbacks: { each: { model: nestedName, max_tokens: nestedName, speed: nestedName } },
    tools: { each: { type: { only: providerTool }, model: nestedName, max_tokens: nestedName } },
  },
};

/** Counts without generating: costs nothing (contract: admission/which-steps). */
const countTokens: Operation = {
  ...create,
  name: 'messages.count_tokens',
  path: 'messages/count_tokens',
  steps: 'count',
  shows: false,
  fields: {
    ...stateFields,
    ...fileFields,
    model: {},
    stream: {},
    max_tokens: {},
    anthropic_version: {},
    anthropic_beta: { unread: true },
    fallbacks: { each: { model: nestedName } },
    tools: { each: { model: nestedName } },
  },
};

/** Whose fault an error of a messages provider is (contract: families/faults). */
const messagesFault = faultReader({
  sayings: [
    {
      whose: 'operator',
      kind: 'quota',
      code: /^(billing_error|(enforced|contract)_spend_limit_reached|ramp_limit_exceeded)$/,
    },
    { whose: 'operator', kind: 'credential', code: /^(authentication_error|permission_error)$/ },
  ],
  notFound: /^not_found_error$/,
});

const ownEdits = budgetedEdits('max_tokens');

/** The messages family: create, streamed or whole, and the free count of input tokens. */
export const messages: Family = {
  id: 'messages',
  operations: [create, countTokens, ...messageBatchOperations, ...messageFileOperations],
  abilities: messagesAbilities,
  readAsk: (raw) => (raw.operation.steps === 'count' ? readCountAsk(raw) : readMessagesAsk(raw)),
  readStored: (raw) => (raw.operation.name === 'messages.files.create' ? readFile(raw) : {}),
  edits: (ask, offer, budget, betas = '') => {
    const variant = variantOf(offer);
    return variant === null
      ? ownEdits(ask, offer, budget)
      : variantEdits(ask, offer, { variant, budget, betas });
  },
  upstreamPath: (ask, offer) => variantPath(ask, offer) ?? ownPath(ask),
  requiredHeader: ['anthropic-version', '2023-06-01'],
  credentialHeader: 'x-api-key',
  readUsage: readMessageUsage,
  remembered: ({ scan }) => ({ cachesForHour: asksForHour(scan.body) }),
  outputBytes: messageOutputBytes,
  streamReader: (ask) => new MessagesStream(ask),
  faultOf: messagesFault,
  breakFrame: ({ message, code }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { message, code } })}\n\n`,
  shown: ({ name, ...operation }, answer) => {
    if (name.startsWith('messages.files.')) return shownMessageFile(answer);
    if (name.startsWith('messages.batches.')) return shownMessageBatch({ name, ...operation }, answer);
    return [...containerIn(answer), ...listIn(objectIn(answer)?.content).flatMap(madeFilesIn)];
  },
  answerHere: ({ name }, answer) => (name.startsWith('messages.batches.') ? withResultsHere(answer) : answer),
  jobs: messageBatchJobs,
  signOfLife: 'event: ping\ndata: {"type": "ping"}\n\n',
  clientPath: '/v1/messages',
  leastBody: { max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] },
};
