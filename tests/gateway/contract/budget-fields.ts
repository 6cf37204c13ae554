/** One field of one family that holds an output budget, at an offer that is told by one field. */
export interface BudgetField {
  readonly name: string;
  readonly model: string;
  target(model: string): string;
  readonly credential: 'authorization' | 'x-api-key' | 'x-goog-api-key';
  /** The request's body; `fields` stands in it as it is. */
  body(model: string, mark: string, fields: string): string;
  /** What a request says with this field; null: nothing. */
  asks(value: string | null): string;
  /** What the provider reads of a budget that the request names. */
  told(value: string): string;
  /** What the provider reads in the place of a silent request, whose field was absent or null. */
  injected(asked: null | 'null', tokens: number): string;
  /** Provider's own name of the model stands in the body. */
  readonly renames: boolean;
}

const member = (name: string) => (value: string | null) => (value === null ? '' : `,"${name}":${value}`);

const chat = {
  target: () => '/v1/chat/completions',
  credential: 'authorization',
  body: (model: string, mark: string, fields: string) =>
    `{"model":"${model}","messages":[{"role":"user","content":"${mark} [[echo?tokens=50]]"}]${fields}}`,
  renames: true,
} as const;

const content = {
  model: 'sandbox/echo',
  target: (model: string) => `/v1beta/models/${model}:generateContent`,
  credential: 'x-goog-api-key',
  body: (_model: string, mark: string, fields: string) =>
    `{"contents":[{"role":"user","parts":[{"text":"${mark} [[echo?tokens=50]]"}]}]${fields}}`,
  renames: false,
} as const;

const config = (outer: string, inner: string) => (value: string | null) =>
  value === null ? '' : `,"${outer}":{"${inner}":${value}}`;

const besideTemperature = (value: string | null) =>
  `,"generationConfig":{"temperature":1${value === null ? '' : `,"max_output_tokens":${value}`}}`;

/** Where the offer is told by the field itself, a null is replaced in its place. */
const same = (asks: BudgetField['asks']) => ({
  asks,
  told: asks,
  injected: (_asked: null | 'null', tokens: number) => asks(String(tokens)),
});

/** Where it is told by another one, a budget gets that name, and an injected one is added behind. */
const other = (asks: BudgetField['asks'], field: string) => ({
  asks,
  told: member(field),
  injected: (asked: null | 'null', tokens: number) => `${asks(asked)},"${field}":${tokens}`,
});

const maxTokens = member('max_tokens');
const maxCompletionTokens = member('max_completion_tokens');

export const budgetFields: readonly BudgetField[] = [
  { ...chat, ...same(maxTokens), name: 'chat: max_tokens', model: 'sandbox/echo' },
  {
    ...chat,
    ...other(maxCompletionTokens, 'max_tokens'),
    name: 'chat: max_completion_tokens, at a provider of max_tokens',
    model: 'sandbox/echo',
  },
  {
    ...chat,
    ...other(maxTokens, 'max_completion_tokens'),
    name: 'chat: max_tokens, at a provider of max_completion_tokens',
    model: 'test/newer-budget',
  },
  {
    ...chat,
    ...same(maxCompletionTokens),
    name: 'chat: max_completion_tokens',
    model: 'test/newer-budget',
  },
  {
    ...chat,
    ...same(maxTokens),
    name: 'messages: max_tokens',
    model: 'sandbox/echo',
    target: () => '/v1/messages',
    credential: 'x-api-key',
  },
  {
    ...chat,
    ...same(member('max_output_tokens')),
    name: 'responses: max_output_tokens',
    model: 'sandbox/echo',
    target: () => '/v1/responses',
    body: (model: string, mark: string, fields: string) =>
      `{"model":"${model}","input":"${mark} [[echo?tokens=50]]"${fields}}`,
  },
  {
    ...content,
    ...same(config('generationConfig', 'maxOutputTokens')),
    name: 'generate-content: generationConfig.maxOutputTokens',
  },
  {
    ...content,
    name: 'generate-content: generation_config.max_output_tokens',
    asks: config('generation_config', 'max_output_tokens'),
    told: config('generation_config', 'max_output_tokens'),
    injected: (asked, tokens) =>
      asked === null
        ? `,"generationConfig":{"maxOutputTokens":${tokens}}`
        : `,"generation_config":{"max_output_tokens":${tokens}}`,
  },
  {
    ...content,
    name: 'generate-content: beside another field of the config',
    asks: besideTemperature,
    told: besideTemperature,
    injected: (asked, tokens) =>
      `,"generationConfig":{"temperature":1,"${asked === null ? 'maxOutputTokens' : 'max_output_tokens'}":${tokens}}`,
  },
];
