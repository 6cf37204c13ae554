import type { Figures } from '#lib/core/families/reading/figures';
import { type JsonObject, objectIn } from '#lib/core/families/reading/json';

/**
 * Searches of the web and of X that a usage object reports (contract: money/searches); null: it reports none of these
 * figures.
 */
export function searchesIn(usage: JsonObject, figures: Figures): number | null {
  const told = objectIn(usage.server_tool_use)?.web_search_requests ?? null;
  if (told !== null) return figures.readCount(told);
  const calls = objectIn(usage.server_side_tool_usage_details);
  return calls && figures.readCount(calls.web_search_calls) + figures.readCount(calls.x_search_calls);
}
