import { type Refusal, refusal } from '#lib/core/errors';
import type { ResourceView, ShownResource } from '#lib/core/facts/resource';
import type { Ask, Operation, RawAsk } from '#lib/core/families/family';
import { isMoment } from '#lib/core/families/generate-content/moment';
import { contentPrefixes, contentQuery } from '#lib/core/families/generate-content/path';
import { fileIdIn } from '#lib/core/families/generate-content/references';
import { objectIn, textIn } from '#lib/core/families/reading/json';

const common = {
  family: 'generate-content',
  method: 'GET',
  steps: 'stored',
  fields: null,
  query: contentQuery,
} as const;
const file = { ...common, path: 'files/{id}', resource: { kind: 'file', param: 'id' } } as const;
const uploaded = {
  ...common,
  method: 'POST',
  path: 'upload/files',
  prefixes: contentPrefixes,
  stores: 'contentFiles',
  query: {},
} as const;

/** Files that a provider stores for a workspace, in the form of generate-content (contract: batches/content-files). */
export const contentFileOperations: readonly Operation[] = [
  {
    ...uploaded,
    name: 'content.files.create',
    resumable: 'start',
    shows: false,
    fields: { file: { fields: { name: {} } } },
  },
  {
    ...uploaded,
    name: 'content.files.upload',
    resumable: 'part',
    fields: {},
    spokenWith: 'x-goog-upload-command',
    spokenAs: /^(?!\s*start\b)/i,
  },
  ...[
    {
      ...common,
      name: 'content.files.list',
      path: 'files',
      lists: { of: 'file', order: 'desc', usual: 10, most: 1_000, paging: 'tokens', member: 'files' },
    } as const,
    { ...file, name: 'content.files.retrieve' } as const,
    {
      ...file,
      name: 'content.files.delete',
      method: 'DELETE',
      resourceEffect: 'delete',
      shows: false,
    } as const,
  ].flatMap(underEachPrefix),
];

/** Under `/v1`, these are addresses of two further families (contract: families/shared-addresses). */
function underEachPrefix(operation: Omit<Operation, 'prefixes'>): readonly Operation[] {
  return [
    { ...operation, prefixes: ['v1beta', 'v1alpha'] },
    { ...operation, prefixes: ['v1'], spokenWith: 'x-goog-api-key' },
  ];
}

/** Whether an operation is one of these. */
export function isOfFiles({ name }: Operation): boolean {
  return name.startsWith('content.files.');
}

/**
 * What the beginning of an upload says about the file. All workspaces share the operator's account, so none may choose
 * a name, which another one may have.
 */
export function readFileStart({ operation, scan }: RawAsk): Partial<Ask> | Refusal {
  if (operation.resumable !== 'start' || !scan.found.has('file.name')) return {};
  return refusal(
    'invalid_body',
    'The field "file.name" cannot be chosen; leave it out, and the provider makes a name. "file.displayName" is free.',
  );
}

/** What lists show of a file. */
const viewed = [
  'name',
  'displayName',
  'mimeType',
  'createTime',
  'updateTime',
  'sha256Hash',
  'uri',
  'downloadUri',
  'state',
  'source',
];

/** The file that an answer of these operations shows; none for an error, or while parts of it are still to come. */
export function shownContentFile(answer: unknown): readonly ShownResource[] {
  const whole = objectIn(answer);
  const body = objectIn(whole?.file) ?? whole;
  const name = textIn(body?.name);
  const id = name === null ? null : fileIdIn(name);
  if (body === null || id === null || (whole?.error ?? null) !== null) return [];
  const view: Record<string, unknown> = {};
  for (const one of viewed) if (typeof body[one] === 'string') view[one] = body[one];
  // The database reads these two.
  if (/^\d{1,15}$/.test(textIn(body.sizeBytes) ?? '')) view.sizeBytes = body.sizeBytes;
  if (isMoment(body.expirationTime)) view.expirationTime = body.expirationTime;
  return [{ kind: 'file', id, view: view as ResourceView }];
}
