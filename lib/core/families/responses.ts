import { budgetedEdits } from '#lib/core/families/edits';
import { type Family, type Operation, ownPath } from '#lib/core/families/family';
import { faultReader } from '#lib/core/families/reading/fault';
import { responsesAbilities } from '#lib/core/families/responses/abilities';
import { readResponsesAsk } from '#lib/core/families/responses/ask';
import { breakFrame } from '#lib/core/families/responses/break-frame';
import {
  conversationOperations,
  readItems,
  shownOfConversation,
} from '#lib/core/families/responses/conversations';
import { createFields } from '#lib/core/families/responses/fields';
import { responseJobs } from '#lib/core/families/responses/jobs';
import { responseOutputBytes } from '#lib/core/families/responses/output';
import { shownIn } from '#lib/core/families/responses/shown';
import { ResponsesStream } from '#lib/core/families/responses/stream';
import { imageModelIn, usageOfResponse } from '#lib/core/families/responses/usage';

const create: Operation = {
  name: 'responses.create',
  family: 'responses',
  method: 'POST',
  path: 'responses',
  prefixes: ['v1'],
  steps: 'generate',
  budgeted: true,
  fields: createFields,
};

/** Writes a shorter form of an input, of which the provider keeps nothing (contract: families/compaction). */
const compact: Operation = {
  name: 'responses.compact',
  family: 'responses',
  method: 'POST',
  path: 'responses/compact',
  prefixes: ['v1'],
  steps: 'generate',
  unlimited: true,
  repeats: true,
  fields: createFields,
};

/** Counts without generating: costs nothing (contract: admission/which-steps). */
const countTokens: Operation = {
  name: 'responses.input_tokens',
  family: 'responses',
  method: 'POST',
  path: 'responses/input_tokens',
  prefixes: ['v1'],
  steps: 'count',
  shows: false,
  fields: createFields,
};

/** An operation on a response that the provider keeps (contract: admission/which-steps). */
const stored = {
  family: 'responses',
  prefixes: ['v1'],
  steps: 'stored',
  fields: null,
  resource: { kind: 'response', param: 'id' },
} as const;

/** SDKs write a list's name with brackets after it. */
const included = { include: true, 'include[]': true } as const;

const operations: readonly Operation[] = [
  create,
  compact,
  countTokens,
  {
    ...stored,
    name: 'responses.retrieve',
    method: 'GET',
    path: 'responses/{id}',
    query: { ...included, include_obfuscation: true, starting_after: true, stream: true },
  },
  {
    ...stored,
    name: 'responses.delete',
    method: 'DELETE',
    path: 'responses/{id}',
    resourceEffect: 'delete',
    shows: false,
  },
  {
    ...stored,
    name: 'responses.cancel',
    method: 'POST',
    path: 'responses/{id}/cancel',
    resourceEffect: 'cancel',
  },
  {
    ...stored,
    name: 'responses.input_items',
    method: 'GET',
    path: 'responses/{id}/input_items',
    repeats: true,
    query: { ...included, after: true, before_id: true, limit: true, order: true },
  },
  ...conversationOperations,
];

/** The responses family: create, whole, streamed or in the background, and what is kept of it. */
export const responses: Family = {
  id: 'responses',
  operations,
  readAsk: readResponsesAsk,
  abilities: responsesAbilities,
  readStored: readItems,
  edits: budgetedEdits('max_output_tokens'),
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  readUsage: (ask, answer) => usageOfResponse(answer, imageModelIn(ask)),
  outputBytes: responseOutputBytes,
  streamReader: (ask) => new ResponsesStream(ask),
  faultOf: faultReader({ sayings: [] }),
  breakFrame,
  shown: (operation, answer) => shownOfConversation(operation, answer) ?? shownIn(answer),
  jobs: responseJobs,
  signOfLife: ': keep-alive\n\n',
  clientPath: '/v1/responses',
  leastBody: { input: 'hello' },
};
