import { type Refusal, refusal } from '#lib/core/errors';
import type { ResourceView, ShownResource } from '#lib/core/facts/resource';
import type { Ask, Operation, RawAsk } from '#lib/core/families/family';
import { objectIn, textIn } from '#lib/core/families/reading/json';
import type { UploadedFile } from '#lib/core/families/scan';

const common = { family: 'chat', method: 'GET', prefixes: ['v1'], steps: 'stored', fields: null } as const;
const file = { ...common, resource: { kind: 'file', param: 'id' } } as const;

/** Files that a provider stores for a workspace (contract: batches/files). */
export const fileOperations: readonly Operation[] = [
  {
    ...common,
    name: 'files.create',
    method: 'POST',
    path: 'files',
    stores: 'files',
    multipart: 'only',
    fields: { purpose: {}, file: { part: 'file' } },
  },
  {
    ...common,
    name: 'files.list',
    path: 'files',
    lists: { of: 'file', order: 'desc', usual: 10_000, most: 10_000, filters: ['purpose'] },
  },
  { ...file, name: 'files.retrieve', path: 'files/{id}' },
  {
    ...file,
    name: 'files.delete',
    method: 'DELETE',
    path: 'files/{id}',
    resourceEffect: 'delete',
    deletesResults: true,
    shows: false,
  },
  { ...file, name: 'files.content', path: 'files/{id}/content', download: 'direct', shows: false },
];

/** What an upload must have: one file with content and, where it has a purpose, that. */
export function readFile(raw: RawAsk): Pick<Ask, 'weight'> | Refusal {
  const { scan } = raw;
  if (raw.operation.fields?.purpose && textIn(scan.found.get('purpose')?.value) === null) {
    return refusal(
      'invalid_body',
      'Part "purpose" is missing; say what the file is for, such as "user_data" or "batch".',
    );
  }
  const files = scan.upload?.files.filter(({ field }) => field === 'file') ?? [];
  const [first] = files;
  if (!first) return refusal('invalid_body', 'Part "file" is missing; send the file under this name.');
  if (files.length > 1) return refusal('invalid_body', 'The body has part "file" twice; send one file.');
  if (first.bytes === 0)
    return refusal('invalid_body', 'The file "file" is empty; send a file with content.');
  return { weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 } };
}

/** The file of an upload that `readFile` has passed. */
export function uploadedFile({ scan }: Pick<Ask, 'scan'>): UploadedFile {
  const found = scan.upload?.files.find(({ field }) => field === 'file');
  if (!found) throw new Error('an upload that was checked has its file');
  return found;
}

/** The purpose of files of requests (contract: batches/read). */
export function isBatchFile({ operation, scan }: Pick<Ask, 'operation' | 'scan'>): boolean {
  return operation.name === 'files.create' && scan.found.get('purpose')?.value === 'batch';
}

/** What lists show of a file. */
const viewed = ['id', 'object', 'bytes', 'created_at', 'filename', 'purpose', 'status', 'expires_at'];

/** The file that an answer shows; none for an error. */
export function shownFile(answer: unknown): readonly ShownResource[] {
  const body = objectIn(answer);
  const id = textIn(body?.id);
  if (body === null || id === null || (body.error ?? null) !== null) return [];
  const view: Record<string, unknown> = {};
  for (const name of viewed) if (body[name] !== undefined) view[name] = body[name];
  if (typeof view.bytes !== 'number') delete view.bytes;
  return [{ kind: 'file', id, view: view as ResourceView }];
}
