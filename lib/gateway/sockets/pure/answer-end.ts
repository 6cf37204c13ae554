import { scan } from '#lib/core/families/scan';
import { insideOf, textAt } from '#lib/gateway/sockets/pure/client-event';

const fields = { response: { fields: { id: {}, output: { unread: true } } } } as const;

/** The events after which a response has ended. */
const endings = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export function endsResponse(type: string): boolean {
  return endings.has(type);
}

/** A response that has ended: its id, and its items as JSON without brackets. */
export interface EndedResponse {
  readonly id: string;
  readonly output: string;
}

/**
 * The response in the event that ends it; null: it failed, or is not there.
 * @param type of the event.
 */
export function endedIn(type: string, data: string): EndedResponse | null {
  if (type === 'response.failed') return null;
  const scanned = scan(Buffer.from(data), fields);
  if ('fault' in scanned) return null;
  const id = scanned.found.get('response.id')?.value;
  const output = scanned.found.get('response.output');
  if (typeof id !== 'string') return null;
  const list = output?.type === 'array' ? textAt(scanned.body, output) : '[]';
  return { id, output: insideOf(readable(list)) };
}

/** Without reasoning of which only its provider knows the content (contract: sockets/continuation). */
function readable(list: string): string {
  if (!list.includes('"reasoning"')) return list;
  const items: unknown[] = JSON.parse(list);
  const kept = items.filter((item) => !isUnreadable(item));
  return kept.length === items.length ? list : JSON.stringify(kept);
}

function isUnreadable(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || !('type' in item) || item.type !== 'reasoning')
    return false;
  return !('encrypted_content' in item) || typeof item.encrypted_content !== 'string';
}

/** The type of an event of a stream. @param name its `event:` line, if it has one. */
export function typeOf(name: string | undefined, data: string): string {
  if (name) return name;
  try {
    const event: unknown = JSON.parse(data);
    return typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : '';
  } catch {
    return '';
  }
}

/** An event as the frame of its lane (contract: sockets/lanes). */
export function frameOf(data: string, lane: string | null): string {
  if (lane === null || !data.startsWith('{')) return data;
  const rest = data.slice(1);
  return `{"stream_id":"${lane}"${/^\s*\}/.test(rest) ? '' : ','}${rest}`;
}
