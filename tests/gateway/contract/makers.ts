import type { Speaker } from '#tests/gateway/contract/speaker';
import { fairResponseNano } from '#tests/gateway/responses/call';
import { record } from '#tools/sandbox/content/tool-call';

/** One way to have a job begun, and how it is read: what the contract must know of it. */
export interface Maker
  extends Pick<
    Speaker,
    | 'name'
    | 'family'
    | 'operation'
    | 'credential'
    | 'headers'
    | 'model'
    | 'target'
    | 'body'
    | 'upstreamTarget'
    | 'received'
  > {
  /** The plain name of the simulated model, to which parameters of its job are added. */
  readonly plain: string;
  /** The provider's id in the create answer. */
  idOf(answer: Readonly<Record<string, unknown>>): string;
  /** Where it is read, and where the provider is asked then; the first one is the usual one. */
  reads(id: string): readonly (readonly [target: string, upstreamTarget: string, operation: string])[];
  isDone(answer: Readonly<Record<string, unknown>>): boolean;
  /** What it costs once it completed, nano-dollars, by the last answer. */
  owed(answer: Readonly<Record<string, unknown>>): bigint;
  /** How its client removes it; null: it cannot. */
  readonly removal: { readonly method: 'DELETE'; readonly operation: string } | null;
}

const asFilm = (text: string, model: string) => text.replace(`"${model}"`, '"film"');
/** Four seconds at $0.10. */
const film = 400_000_000n;
const boundary = 'a-boundary';
const part = (name: string, body: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${body}\r\n`;

const videos = {
  family: 'videos',
  operation: 'videos.create',
  credential: 'authorization',
  model: 'sandbox/film',
  plain: 'film',
  target: () => '/v1/videos',
  upstreamTarget: '/videos',
  idOf: ({ id }: Readonly<Record<string, unknown>>) => String(id),
  reads: (id: string) => [[`/v1/videos/${id}`, `/videos/${id}`, 'videos.retrieve']] as const,
  isDone: ({ status }: Readonly<Record<string, unknown>>) => status === 'completed' || status === 'failed',
  owed: () => film,
  removal: { method: 'DELETE', operation: 'videos.delete' },
} as const;

export const makers: readonly Maker[] = [
  {
    ...videos,
    name: 'videos',
    body: (model, prompt) => JSON.stringify({ model, prompt, seconds: '4', size: '720x1280' }),
    received: asFilm,
  },
  {
    ...videos,
    name: 'videos, by a form',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: (model, prompt) =>
      [part('prompt', prompt), part('seconds', '4'), part('model', model), `--${boundary}--\r\n`].join(''),
    received: (text, model) => text.replace(`\r\n\r\n${model}\r\n`, '\r\n\r\nfilm\r\n'),
  },
  {
    name: 'long-running predictions',
    family: 'generate-content',
    operation: 'content.predictLongRunning',
    credential: 'x-goog-api-key',
    model: 'sandbox/film',
    plain: 'film',
    target: (model) => `/v1beta/models/${model}:predictLongRunning`,
    upstreamTarget: '/models/film:predictLongRunning',
    body: (_model, prompt) => JSON.stringify({ instances: [{ prompt }], parameters: { durationSeconds: 4 } }),
    received: (text) => text,
    idOf: ({ name }) => String(name).split('/').at(-1) ?? '',
    reads: (id) => [
      [`/v1beta/models/film/operations/${id}`, `/models/film/operations/${id}`, 'content.model_operation'],
      [
        `/v1/models/sandbox/film/operations/${id}`,
        `/models/film/operations/${id}`,
        'content.model_operation',
      ],
      [
        `/v1alpha/models/sandbox%2Ffilm/operations/${id}`,
        `/models/film/operations/${id}`,
        'content.model_operation',
      ],
      [`/v1beta/operations/${id}`, `/models/film/operations/${id}`, 'content.operation'],
    ],
    isDone: ({ done }) => done === true,
    owed: () => film,
    removal: null,
  },
  {
    name: 'responses in the background',
    family: 'responses',
    operation: 'responses.create',
    credential: 'authorization',
    model: 'sandbox/echo',
    plain: 'echo',
    target: () => '/v1/responses',
    upstreamTarget: '/responses',
    body: (model, prompt) => JSON.stringify({ model, input: prompt, background: true }),
    received: (text, model) => text.replace(`"${model}"`, '"echo"'),
    idOf: ({ id }) => String(id),
    reads: (id) => [[`/v1/responses/${id}`, `/responses/${id}`, 'responses.retrieve']],
    isDone: ({ status }) => status === 'completed' || status === 'failed',
    owed: ({ usage }) => fairResponseNano({ usageReported: record(usage) }),
    removal: { method: 'DELETE', operation: 'responses.delete' },
  },
];
