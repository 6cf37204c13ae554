import { listCalls } from '#lib/control/operations/call/operations';
import type { ViewPage } from '#lib/control/operations/view/settings';

/** What says when, in which order and how it is shown, not which calls. */
const { limit: _, count: __, settledAfter: ___, after: ____, sort: _____, ...filters } = listCalls.fields;
const { from: ______, to: _______, last: ________, ...timeless } = filters;

/** Values of the filters of `call.list`. */
type ViewSearch = Readonly<Record<string, unknown>> & { readonly id?: string | undefined };

/**
 * The filters of a saved view as a search of the log, without its range of time. The usage page's are those with which its
 * figures link to the log.
 * @returns null if one of them cannot be read, as in a link that was typed by hand.
 */
export function searchOfView(page: ViewPage, query: string): ViewSearch | null {
  const texts = new URLSearchParams(query);
  const usage = { countedModel: texts.get('model'), provider: texts.get('provider'), key: texts.get('key') };
  const given: Readonly<Record<string, string | null>> =
    page === 'usage' ? { ...usage, usage: 'counted' } : Object.fromEntries(texts);
  const search: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(timeless)) {
    const text = given[name]?.trim();
    if (!text) continue;
    const read = field.schema.safeParse(field.fromText(text));
    if (!read.success) return null;
    search[name] = read.data;
  }
  return search;
}
