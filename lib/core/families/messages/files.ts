import type { ResourceView, ShownResource } from '#lib/core/facts/resource';
import type { Operation } from '#lib/core/families/family';
import { listIn, objectIn, textIn } from '#lib/core/families/reading/json';

/** With this header, the paths of files are those of this family; without it, those of chat. */
const spokenWith = 'anthropic-version';

const common = {
  family: 'messages',
  method: 'GET',
  prefixes: ['v1'],
  steps: 'stored',
  spokenWith,
  query: { beta: true },
  fields: null,
} as const;
const file = { ...common, resource: { kind: 'file', param: 'id' } } as const;

/** Files that a provider stores for a workspace, in the form of messages (contract: batches/message-files). */
export const messageFileOperations: readonly Operation[] = [
  {
    ...common,
    name: 'messages.files.create',
    method: 'POST',
    path: 'files',
    stores: 'messageFiles',
    multipart: 'only',
    fields: { file: { part: 'file' } },
  },
  {
    ...common,
    name: 'messages.files.list',
    path: 'files',
    lists: { of: 'file', order: 'desc', usual: 20, most: 1_000, paging: 'ids' },
  },
  { ...file, name: 'messages.files.retrieve', path: 'files/{id}' },
  {
    ...file,
    name: 'messages.files.delete',
    method: 'DELETE',
    path: 'files/{id}',
    resourceEffect: 'delete',
    shows: false,
  },
  { ...file, name: 'messages.files.content', path: 'files/{id}/content', download: 'direct', shows: false },
];

/** What lists show of a file. */
const viewed = ['id', 'type', 'filename', 'mime_type', 'created_at', 'downloadable'];

/** The file that an answer of these operations shows; none for an error. */
export function shownMessageFile(answer: unknown): readonly ShownResource[] {
  const body = objectIn(answer);
  const id = textIn(body?.id);
  if (body?.type !== 'file' || id === null) return [];
  const view: Record<string, unknown> = {};
  for (const name of viewed) if (body[name] !== undefined) view[name] = body[name];
  if (typeof body.size_bytes === 'number') view.size_bytes = body.size_bytes;
  return [{ kind: 'file', id, view: view as ResourceView }];
}

/** Files that code of the provider's made, which a block of an answer names: they can be downloaded. */
export function madeFilesIn(block: unknown): readonly ShownResource[] {
  const seen = objectIn(block);
  const type = textIn(seen?.type);
  if (!type?.endsWith('code_execution_tool_result')) return [];
  const made = listIn(objectIn(seen?.content)?.content);
  return made.flatMap((one) => {
    const id = textIn(objectIn(one)?.file_id);
    return id === null ? [] : [{ kind: 'file', id } as const];
  });
}
