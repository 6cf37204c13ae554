import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Source,
  LanguageModelV4ToolResult,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import type { AnswerFacts } from '#lib/core/translation/conversation';
import { toClientId } from '#lib/core/translation/messages/call-id';
import { markThinking } from '#lib/core/translation/thinking-mark';
import { figuresOf } from '#lib/core/translation/usage-figures';

/** The parts of a message that a whole answer and a stream have in common. */

export function messageHead(facts: AnswerFacts): JsonObject {
  return {
    id: `msg_${facts.id}`,
    type: 'message',
    role: 'assistant',
    model: facts.model,
    container: null,
    diagnostics: null,
  };
}

/**
 * The input is what is left after the cached part and what was written to the cache.
 * @param searches of the web, by the provider.
 */
export function usageFields(usage: LanguageModelV4Usage, searches = 0): JsonObject {
  const { uncached, cacheRead, cacheWrite, output, reasoning } = figuresOf(usage);
  return {
    input_tokens: uncached,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: output,
    output_tokens_details: usage.outputTokens.reasoning === undefined ? null : { thinking_tokens: reasoning },
    server_tool_use: searches === 0 ? null : { web_search_requests: searches, web_fetch_requests: 0 },
  };
}

/** What only a whole message and the start of a stream say of usage. */
export const startOnlyUsage = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };

/** @param called the answer calls a tool of the client. */
export function stopFields({ unified, raw }: LanguageModelV4FinishReason, called: boolean): JsonObject {
  return {
    stop_reason: stopReason(unified, raw, called),
    stop_sequence: null,
    stop_details:
      unified === 'content-filter' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

function stopReason(
  unified: LanguageModelV4FinishReason['unified'],
  raw: string | undefined,
  called: boolean,
) {
  if (unified === 'length') return raw === 'model_context_window_exceeded' ? raw : 'max_tokens';
  if (unified === 'content-filter') return 'refusal';
  return called ? 'tool_use' : 'end_turn';
}

export function markOfThinking(facts: AnswerFacts, metadata: SharedV4ProviderMetadata): string {
  return markThinking({ maker: facts.maker, metadata });
}

/** The messages protocol has no field for what is signed of a call: a block of redacted thinking before it names it. */
export function callMark(
  facts: AnswerFacts,
  toolCallId: string,
  metadata: SharedV4ProviderMetadata,
): JsonObject {
  return redactedThinking(markThinking({ maker: facts.maker, metadata, toolCallId }));
}

export function redactedThinking(mark: string): JsonObject {
  return { type: 'redacted_thinking', data: mark };
}

/** Without its input, which comes in deltas. */
export function toolUse(id: string, name: string): JsonObject {
  return { type: 'tool_use', id: toClientId(id), name, input: {}, caller: { type: 'direct' } };
}

/**
 * What only Anthropic can encrypt: a mark stands in its place, so that whoever gets the block back knows that it is not
 * Anthropic's.
 */
function unencrypted(facts: AnswerFacts): string {
  return markThinking({ maker: facts.maker, metadata: {} });
}

export function citation(source: LanguageModelV4Source, facts: AnswerFacts): JsonObject | null {
  if (source.sourceType !== 'url') return null;
  const { url, title = null } = source;
  const encrypted_index = unencrypted(facts);
  return { type: 'web_search_result_location', url, title, cited_text: '', encrypted_index };
}

export interface Search {
  /** Without its input. */
  readonly use: JsonObject;
  readonly input: JsonObject;
  readonly result: JsonObject;
}

/** A search of the web by the provider; null: another tool of the provider, or a page that it opened. */
export function searchIn(part: LanguageModelV4ToolResult, facts: AnswerFacts): Search | null {
  const result = objectIn(part.result);
  const action = objectIn(result?.action);
  if (part.toolName !== 'web_search' || (action && action.type !== 'search')) return null;
  const id = toClientId(part.toolCallId);
  const caller = { type: 'direct' };
  const urls = listIn(result?.sources).flatMap((source) => textIn(objectIn(source)?.url) ?? []);
  const encrypted_content = unencrypted(facts);
  const content = urls.map((url) => ({
    type: 'web_search_result',
    url,
    title: url,
    page_age: null,
    encrypted_content,
  }));
  return {
    use: { type: 'server_tool_use', id, name: 'web_search', input: {}, caller },
    input: { query: textIn(action?.query) ?? '' },
    result: { type: 'web_search_tool_result', tool_use_id: id, content, caller },
  };
}
