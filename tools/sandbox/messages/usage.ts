import type { Message } from '#tools/sandbox/messages/compose';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { bends } from '#tools/sandbox/scenario/bend';

/**
 * The usage object as the provider reports it, honest or bent.
 * @param place whole answers and starts divide the cache writes, deltas do not; a start knows no output.
 * @param output tokens to report; the truth's unless said otherwise.
 * @returns undefined where there is none, null where it says null.
 */
export function messageUsage(
  message: Message,
  figures: UsageFigures,
  place: 'whole' | 'start' | 'delta',
  output: number = message.truth.outputTokens,
): object | null | undefined {
  if (figures === 'none') return undefined;
  if (figures === 'null') return null;
  const bend = bends[figures];
  const { truth, hour, searches } = message;
  const late = place === 'start' ? message.lateInput : 0;
  const input = truth.inputTokens - truth.cachedTokens - truth.cacheWriteTokens - late;
  const written = bend(truth.cacheWriteTokens);
  const told = {
    input_tokens: bend(input),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: bend(truth.cachedTokens),
  };
  const divided = {
    cache_creation: {
      ephemeral_5m_input_tokens: hour ? 0 : written,
      ephemeral_1h_input_tokens: hour ? written : 0,
    },
  };
  const named = {
    service_tier: truth.serviceTier,
    inference_geo: 'global',
    ...(message.fast ? { speed: 'fast' } : {}),
  };
  if (place === 'start') return { ...told, ...divided, output_tokens: bend(Math.min(1, output)), ...named };
  const end = {
    output_tokens: bend(output),
    output_tokens_details: { thinking_tokens: Math.min(truth.reasoningTokens, output) },
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } } : {}),
    ...(message.passes.length > 0 ? { iterations: message.passes.map(listed) } : {}),
  };
  return place === 'whole' ? { ...told, ...divided, ...end, ...named } : { ...told, ...end };
}

function listed({ type, model, inputTokens, outputTokens }: Message['passes'][number]): object {
  return {
    type,
    model,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** `error.type` by status. */
export function errorType(status: number): string {
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
