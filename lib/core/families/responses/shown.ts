import type { ShownResource } from '#lib/core/facts/resource';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';

/** What an answer shows that later requests may name: the response, its conversation and its items. */
export function shownIn(answer: unknown): readonly ShownResource[] {
  const body = objectIn(answer);
  if (body === null || ((body.error ?? null) !== null && body.object !== 'response')) return [];
  if (body.object === 'list') return itemsOf(body.data);
  // A compaction is no response that could be read again.
  const head = body.object === 'response.compaction' ? [] : headOf(body);
  return [...head, ...itemsOf(body.output)];
}

/** The response itself and the conversation that it went into. */
export function headOf(response: JsonObject): readonly ShownResource[] {
  const id = textIn(response.id);
  if (id === null) return [];
  const conversation = textIn(objectIn(response.conversation)?.id);
  const own: ShownResource = { kind: 'response', id };
  return conversation === null ? [own] : [own, { kind: 'conversation', id: conversation }];
}

/** The items of a list, and the containers that their tools ran in. */
export function itemsOf(list: unknown): readonly ShownResource[] {
  return listIn(list).flatMap((value) => {
    const item = objectIn(value);
    const container = item?.container_id ?? objectIn(item?.environment)?.container_id;
    return [textIn(item?.id), textIn(container)].flatMap((id) =>
      id === null ? [] : [{ kind: 'item' as const, id }],
    );
  });
}
