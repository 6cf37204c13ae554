import type { FamilyId } from '#lib/core/families/ids';

/** When an application calls, by the wall clock of the workspace. */
export type Rhythm = 'office' | 'people' | 'nightly' | 'steady';

/** Median and spread of a size, in tokens. */
type Size = readonly [median: number, spread: number];

/** A made-up application with its own key. */
export interface App {
  /** The name of its key. */
  readonly name: string;
  readonly userAgent: string;
  readonly family: FamilyId;
  readonly operation: string;
  /** Its models by share; of each list, the first one in the catalogue is used. */
  readonly models: readonly (readonly [slugs: readonly string[], share: number])[];
  /** The model to try after all offers have failed. */
  readonly fallback?: string;
  /** An alias of the workspace, sent instead of the slug. */
  readonly alias?: string;
  readonly perDay: number;
  readonly rhythm: Rhythm;
  /** Share of calls that stream, and share of input read from the cache. */
  readonly streamed: number;
  readonly cached: number;
  readonly input: Size;
  readonly output: Size;
  /** Share of the output that is reasoning. */
  readonly reasoning?: number;
  /** The answers are images of this many tokens. */
  readonly imageTokens?: number;
  /** Days before the end on which it begins and stops calling. */
  readonly fromDay?: number;
  readonly untilDay?: number;
  readonly limits?: { readonly rpm?: number; readonly quotaUsd?: string; readonly dailyCapUsd?: string };
  /** Share of its calls that a limit of its key refuses. */
  readonly limited?: number;
  readonly disabled?: boolean;
}

const haiku = ['anthropic/claude-haiku-5-5', 'anthropic/claude-haiku-4-5'];
const sonnet = ['anthropic/claude-sonnet-5-5', 'anthropic/claude-sonnet-5', 'anthropic/claude-sonnet-4-5'];
const flash = ['google/gemini-3.8-flash', 'google/gemini-3.6-flash', 'google/gemini-3.5-flash'];
const openSource = ['openai/gpt-oss-120b'];

/** The aliases of the demo workspace, each for the first of its models in the catalogue. */
export const aliases: Readonly<Record<string, readonly string[]>> = {
  fast: [...haiku, 'openai/gpt-5.4-mini'],
  'docs-search': openSource,
};

/** The applications of the demo workspace: a small company with a shop, a support desk and developers. */
export const cast: readonly App[] = [
  {
    name: 'Shop assistant',
    userAgent: 'Anthropic/JS 1.11.0',
    family: 'messages',
    operation: 'messages.create',
    models: [
      [sonnet, 0.8],
      [haiku, 0.2],
    ],
    perDay: 300,
    rhythm: 'people',
    streamed: 0.95,
    cached: 0.65,
    input: [2600, 0.5],
    output: [340, 0.7],
    limits: { rpm: 120, dailyCapUsd: '60' },
  },
  {
    name: 'Support triage',
    userAgent: 'OpenAI/Python 2.8.1',
    family: 'chat',
    operation: 'chat.create',
    models: [
      [['openai/gpt-5.4-mini', 'openai/gpt-5-mini', 'openai/gpt-4.1-mini'], 0.9],
      [['openai/gpt-5.4', 'openai/gpt-5', 'openai/gpt-4.1'], 0.1],
    ],
    fallback: 'anthropic/claude-haiku-4-5',
    perDay: 260,
    rhythm: 'office',
    streamed: 0.1,
    cached: 0.4,
    input: [1300, 0.6],
    output: [130, 0.5],
  },
  {
    name: 'Docs search',
    userAgent: 'OpenAI/JS 6.9.0',
    family: 'chat',
    operation: 'chat.create',
    models: [[[...openSource, 'meta/llama-3.3-70b-instruct', 'openai/gpt-4.1-nano'], 1]],
    alias: 'docs-search',
    perDay: 240,
    rhythm: 'steady',
    streamed: 0.7,
    cached: 0,
    input: [3100, 0.4],
    output: [260, 0.5],
    reasoning: 0.35,
  },
  {
    name: 'Mobile app',
    userAgent: 'google-genai-sdk/3.1.0 gl-node/v24.19.2',
    family: 'generate-content',
    operation: 'content.stream',
    models: [[flash, 1]],
    perDay: 220,
    rhythm: 'people',
    streamed: 1,
    cached: 0.2,
    input: [900, 0.8],
    output: [210, 0.7],
    limits: { rpm: 300 },
  },
  {
    name: 'Code review',
    userAgent: 'OpenAI/Python 2.8.1',
    family: 'responses',
    operation: 'responses.create',
    models: [[['openai/gpt-5.3-codex', 'openai/gpt-5.1-codex', 'openai/gpt-5'], 1]],
    perDay: 55,
    rhythm: 'office',
    streamed: 0.5,
    cached: 0.5,
    input: [14_000, 0.7],
    output: [1900, 0.6],
    reasoning: 0.6,
    limits: { dailyCapUsd: '40' },
  },
  {
    name: 'Nightly summaries',
    userAgent: 'python-httpx/0.28.1',
    family: 'chat',
    operation: 'chat.create',
    models: [[['deepseek/deepseek-flash', 'mistral/mistral-small-2603', 'openai/gpt-4.1-nano'], 1]],
    fallback: 'mistral/mistral-small-2603',
    perDay: 170,
    rhythm: 'nightly',
    streamed: 0,
    cached: 0.1,
    input: [5200, 0.5],
    output: [420, 0.3],
    limits: { rpm: 60 },
    limited: 0.05,
  },
  {
    name: 'Marketing images',
    userAgent: 'OpenAI/JS 6.9.0',
    family: 'images',
    operation: 'images.generate',
    models: [[['openai/gpt-image-2', 'openai/gpt-image-1-mini'], 1]],
    perDay: 14,
    rhythm: 'office',
    streamed: 0,
    cached: 0,
    input: [70, 0.5],
    output: [1056, 0.4],
    imageTokens: 1056,
  },
  {
    name: 'Hackathon',
    userAgent: 'Anthropic/Python 0.84.0',
    family: 'messages',
    operation: 'messages.create',
    models: [[['anthropic/claude-opus-5-5', 'anthropic/claude-opus-5', 'anthropic/claude-opus-4-5'], 1]],
    perDay: 190,
    rhythm: 'office',
    streamed: 0.8,
    cached: 0.3,
    input: [4000, 0.8],
    output: [900, 0.6],
    fromDay: 13,
    untilDay: 10,
    limits: { quotaUsd: '15' },
  },
  {
    name: 'Prototype (retired)',
    userAgent: 'node',
    family: 'chat',
    operation: 'chat.create',
    models: [[['openai/gpt-4o-mini', 'openai/gpt-4.1-mini'], 1]],
    perDay: 80,
    rhythm: 'steady',
    streamed: 0.3,
    cached: 0,
    input: [700, 0.6],
    output: [160, 0.6],
    untilDay: 17,
    disabled: true,
  },
];
