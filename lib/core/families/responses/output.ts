import { type JsonObject, listIn, objectIn, textBytes } from '#lib/core/families/reading/json';

/** UTF-8 bytes of what a whole response generated: text, reasoning, tool arguments. */
export function responseOutputBytes(answer: unknown): number {
  let bytes = 0;
  for (const item of listIn(objectIn(answer)?.output)) bytes += itemBytes(objectIn(item));
  return bytes;
}

/** Bytes of one item of the output; results of tools and pictures are no generated text. */
export function itemBytes(item: JsonObject | null): number {
  if (item === null) return 0;
  let bytes = textBytes(item.name) + textBytes(item.arguments) + textBytes(item.input) + textBytes(item.code);
  for (const part of [...listIn(item.content), ...listIn(item.summary)]) {
    const fields = objectIn(part);
    bytes += textBytes(fields?.text) + textBytes(fields?.refusal) + textBytes(fields?.transcript);
  }
  return bytes;
}

/** What an event adds to the output: every kind of delta in words; sound and pictures come as base64. */
export function deltaBytes({ type, delta }: JsonObject): number {
  if (typeof type !== 'string' || !type.endsWith('.delta') || type.endsWith('.audio.delta')) return 0;
  return textBytes(delta);
}

/** Events that only announce what may come, and those that end a part without adding to it. */
const silent =
  /^(response\.(created|queued|in_progress|completed|incomplete|failed|cancelled|(content_part|reasoning_summary_part)\.(added|done))|error|keepalive)$/;

/**
 * Whether an event says something (contract: routing/begun). An item of the output does when it is no message or
 * reasoning, which begin empty and may end so; a delta does when it is not empty; of the rest, all that the family does
 * not list as announcements do, so that a kind of event that comes later extends the idle limit too.
 */
export function eventSays(event: JsonObject): boolean {
  const { type } = event;
  if (typeof type !== 'string' || silent.test(type)) return false;
  if (type.endsWith('.delta')) return event.delta !== '' && event.delta !== undefined;
  if (type.endsWith('_text.done')) return event.text !== '';
  if (!type.startsWith('response.output_item.')) return true;
  const item = objectIn(event.item);
  return (item?.type !== 'message' && item?.type !== 'reasoning') || itemBytes(item) > 0;
}
