import type { Message } from '#tools/sandbox/messages/compose';
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';

/**
 * The usage object as the provider reports it.
 * @param place whole answers and starts divide the cache writes, deltas do not; a start does not know the output.
 * @param output tokens to report; the truth's unless said otherwise.
 */
export function messageUsage(
  message: Message,
  figures: UsageFigures,
  place: 'whole' | 'start' | 'delta',
  output: number = message.truth.outputTokens,
): object | null | undefined {
  const { truth, hour, searches, passes } = message;
  return reported(figures, (bend) => {
    const late = place === 'start' ? message.lateInput : 0;
    const written = bend(truth.cacheWriteTokens);
    const reported = {
      input_tokens: bend(truth.inputTokens - truth.cachedTokens - truth.cacheWriteTokens - late),
      cache_creation_input_tokens: written,
      cache_read_input_tokens: bend(truth.cachedTokens),
    };
    const divided = {
      cache_creation: {
        ephemeral_5m_input_tokens: hour ? 0 : written,
        ephemeral_1h_input_tokens: hour ? written : 0,
      },
      service_tier: truth.serviceTier,
      inference_geo: 'global',
      ...(message.fast ? { speed: 'fast' } : {}),
    };
    if (place === 'start') return { ...reported, ...divided, output_tokens: bend(Math.min(1, output)) };
    return {
      ...reported,
      ...(place === 'whole' ? divided : {}),
      output_tokens: bend(output),
      output_tokens_details: { thinking_tokens: Math.min(truth.reasoningTokens, output) },
      ...(searches > 0 ? { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } } : {}),
      ...(passes.length > 0 ? { iterations: passes.map(listed) } : {}),
    };
  });
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
