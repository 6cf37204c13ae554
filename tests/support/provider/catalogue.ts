import { type CatalogueSet, joinCatalogues } from '#lib/control/catalogue/files';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { readDocument } from '#lib/core/schemas/document';

const here = { env: 'SANDBOX_URL' };
const scripted = { env: 'TEST_SCRIPTED_URL' };
const closed = 'http://127.0.0.1:1/v1';
const right = { env: 'SANDBOX_KEY' };
const content = ['generate-content'];
const film = ['videos', 'generate-content'];
const pictures = { families: ['images'], upstreamModel: 'picture', price: { input: '5', output: '40' } };
const perKind = { input: '5', imageInput: '10', output: '12', imageOutput: '40' };
const perSecond = { videoSecond: '0.25' };
const price = { input: '1', cachedInput: '0.25', output: '4' };

/** Variables that `startStack` sets besides the sandbox's own address and key. */
export const catalogueEnv = { TEST_MISADDRESSED_URL: 'not an address', TEST_WRONG_KEY: 'not the key' };

const providers = [
  {
    id: 'drained',
    families: {
      chat: here,
      responses: here,
      messages: here,
      'generate-content': here,
      videos: here,
      images: here,
    },
    credential: right,
    onDisconnect: 'drain',
  },
  {
    id: 'aborted',
    families: { chat: here, responses: here, messages: here },
    credential: right,
    onDisconnect: 'abort',
  },
  {
    id: 'closed',
    families: {
      chat: closed,
      responses: closed,
      messages: closed,
      'generate-content': closed,
      videos: closed,
      images: closed,
    },
    credential: right,
  },
  {
    id: 'bearer',
    families: { messages: here, chat: here },
    credential: right,
    credentialHeaders: { messages: 'authorization' },
  },
  { id: 'second', families: { chat: here, images: here }, credential: right },
  { id: 'scripted', families: { chat: scripted, images: scripted }, credential: right },
  { id: 'nowhere', families: { chat: { env: 'TEST_NOWHERE_URL' } }, credential: right },
  { id: 'misaddressed', families: { chat: { env: 'TEST_MISADDRESSED_URL' } }, credential: right },
  { id: 'unkeyed', families: { chat: here, responses: here }, credential: { env: 'TEST_UNSET_KEY' } },
  {
    id: 'miskeyed',
    families: { chat: here, 'generate-content': here },
    credential: { env: 'TEST_WRONG_KEY' },
  },
];

type Offer = Readonly<Record<string, unknown>> & { readonly provider: string };

/** Hidden reasoning costs more than visible output. */
const thinks = {
  upstreamModel: 'echo',
  families: ['chat', 'responses', 'messages'],
  price: { input: '1', output: '4', reasoning: '5' },
};
const reasoning = /^test\/thinks-/;

/** Each model is for one thing that an operator may choose or get wrong. */
const offers: Readonly<Record<string, readonly Offer[]>> = {
  'test/drained': [{ provider: 'drained', price }],
  'test/thinks-aborted': [{ provider: 'aborted', ...thinks }],
  'test/thinks-drained': [{ provider: 'drained', ...thinks }],
  'test/thinks-fast': [{ provider: 'aborted', ...thinks }],
  'test/thinks-long': [{ provider: 'drained', ...thinks }],
  'test/thinks-instant': [{ provider: 'aborted', ...thinks }],
  'test/closed': [{ provider: 'closed', price }],
  'test/named': [{ provider: 'drained', price }],
  'test/picture-drained': [{ provider: 'drained', ...pictures, price: perKind }],
  'test/picture-scripted': [{ provider: 'scripted', ...pictures }],
  'test/picture-falls-back': [
    { provider: 'closed', ...pictures },
    { provider: 'drained', ...pictures, upstreamModel: 'fault/status-500' },
    { provider: 'second', ...pictures },
  ],
  'test/scripted': [{ provider: 'scripted', price }],
  'test/nowhere': [{ provider: 'nowhere', price }],
  'test/misaddressed': [{ provider: 'misaddressed', price }],
  'test/unkeyed': [{ provider: 'unkeyed', price }],
  'test/miskeyed': [{ provider: 'miskeyed', price }],
  'test/unpriced': [{ provider: 'drained' }],
  'test/other-family': [{ provider: 'unkeyed', families: ['responses'], price }],
  'test/no-stream-usage': [{ provider: 'drained', streamUsage: 'never', price }],
  'test/newer-budget': [{ provider: 'drained', outputBudgetField: 'max_completion_tokens', price }],
  'test/mixed-budgets': [
    {
      provider: 'drained',
      upstreamModel: 'fault/status-500',
      outputBudgetField: 'max_completion_tokens',
      price,
    },
    { provider: 'second', price },
  ],
  'test/drained-messages': [
    { provider: 'drained', families: ['messages'], price, denyBetas: ['beta-denied'] },
  ],
  'test/bearer-messages': [{ provider: 'bearer', families: ['messages'], price }],
  'test/bearer-refuses': [
    { provider: 'bearer', upstreamModel: 'fault/status-401', families: ['messages'], price },
  ],
  'test/fast': [
    {
      provider: 'drained',
      families: ['messages', 'chat'],
      price: { ...price, serviceTiers: { fast: { input: '2', output: '8' } } },
    },
  ],
  'test/responses-drained': [{ provider: 'drained', families: ['responses'], price }],
  'test/responses-fall-back': [
    { provider: 'closed', families: ['responses'], price },
    { provider: 'drained', families: ['responses'], price },
  ],
  'test/job-short': [
    { provider: 'drained', upstreamModel: 'echo?job_ms=150', families: ['responses'], price },
  ],
  'test/job-stream': [{ provider: 'drained', upstreamModel: 'echo', families: ['responses'], price }],
  'test/job-slow': [
    { provider: 'drained', upstreamModel: 'echo?job_ms=600000', families: ['responses'], price },
  ],
  'test/job-runs': [
    { provider: 'drained', upstreamModel: 'echo?job_ms=0&job=never', families: ['responses'], price },
  ],
  'test/job-fails': [
    { provider: 'drained', upstreamModel: 'echo?job_ms=0&job=failed', families: ['responses'], price },
  ],
  'test/default-pictures': [
    {
      provider: 'drained',
      upstreamModel: 'gpt-image-2',
      families: ['images'],
      price: { input: '6', output: '30' },
    },
  ],
  'test/pictures': [
    {
      provider: 'drained',
      upstreamModel: 'mini',
      families: ['responses'],
      price: { input: '5', imageInput: '10', output: '20', imageOutput: '40' },
    },
  ],
  'test/messages-fall-back': [
    { provider: 'closed', families: ['messages'], price },
    { provider: 'drained', families: ['messages'], price },
  ],
  'test/film-falls-back': [
    { provider: 'closed', families: film, upstreamModel: 'film', price: perSecond },
    { provider: 'drained', families: film, upstreamModel: 'film', price: perSecond },
  ],
  'test/content-drained': [{ provider: 'drained', families: content, price }],
  'test/content-falls-back': [
    { provider: 'closed', families: content, price },
    { provider: 'miskeyed', families: content, price },
    { provider: 'drained', families: content, price },
  ],
  'test/falls-back': [
    { provider: 'closed', price },
    { provider: 'drained', price },
  ],
};

/** Additional names of the models above. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  'test/named': ['named-latest', 'named-2026-01-01'],
};

/** Providers and models only for tests, besides the simulated provider's own catalogue. */
export function testCatalogue(): CatalogueSet {
  const file = {
    providers: providers.map((provider) => ({ name: provider.id, onDisconnect: 'abort', ...provider })),
    models: Object.entries(offers).map(([id, list]) => ({
      id,
      name: id,
      aliases: aliases[id] ?? [],
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
      input: ['text'],
      output: ['text'],
      reasoning: reasoning.test(id),
      offers: list.map((offer) => ({ upstreamModel: 'echo', families: ['chat'], ...offer })),
    })),
  };
  return joinCatalogues([
    readDocument('tests/support/provider/catalogue.ts', JSON.stringify(file), catalogueShape),
  ]);
}
