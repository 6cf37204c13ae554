import type { Usage } from '#lib/core/metering/usage';
import type { ErrorClass } from '#lib/gateway/settlement/pure/error-class';

/** Columns of `usage_quarter` and `usage_day` with tokens and pieces. */
export const usageColumns = {
  input: 'input_tokens',
  cachedInput: 'cached_tokens',
  cacheWrite5m: 'cache_write_5m_tokens',
  cacheWrite1h: 'cache_write_1h_tokens',
  output: 'output_tokens',
  reasoning: 'reasoning_tokens',
  audioInput: 'audio_input_tokens',
  audioOutput: 'audio_output_tokens',
  imageInput: 'image_input_tokens',
  imageOutput: 'image_output_tokens',
  cachedAudioInput: 'cached_audio_tokens',
  cachedImageInput: 'cached_image_tokens',
  images: 'images',
  videoSeconds: 'video_seconds',
  webSearches: 'web_searches',
  characters: 'characters',
  audioMs: 'audio_ms',
} as const satisfies Readonly<Record<keyof Usage, string>>;

/** Columns that count errors by their class. */
export const errorColumns = {
  client: 'client_errors',
  limit: 'limit_errors',
  provider: 'provider_errors',
  timeout: 'timeout_errors',
  broken: 'broken_errors',
  gateway: 'gateway_errors',
  other: 'other_errors',
} as const satisfies Readonly<Record<ErrorClass, string>>;

/** Everything that adds up, with its type in `usage_quarter`. */
export const sumColumns: readonly (readonly [name: string, type: string])[] = [
  ...['calls', 'refused', ...Object.values(errorColumns), 'attempts', 'fallbacks'].map(
    (name) => [name, 'int'] as const,
  ),
  ...[...Object.values(usageColumns), 'cost_nano', 'own_list_nano'].map((name) => [name, 'bigint'] as const),
  ['latency', 'numeric'],
  ['first_byte', 'numeric'],
];

/** Names of the columns that add up. */
export const sumNames: readonly string[] = sumColumns.map(([name]) => name);
