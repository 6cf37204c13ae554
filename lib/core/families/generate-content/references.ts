import { type Refusal, refusal } from '#lib/core/errors';
import type { ResourceReference } from '#lib/core/facts/resource';
import { wrongType } from '#lib/core/families/reading/fields';
import { cacheIdIn } from '#lib/core/families/reading/stored-state';
import type { FieldSpec, Scan } from '#lib/core/families/scan';

const fileData: FieldSpec = { fileUri: { aliases: ['file_uri'] } };
const functionResponse: FieldSpec = {
  parts: { each: { fileData: { aliases: ['file_data'], fields: fileData } } },
};
const part: FieldSpec = {
  fileData: { aliases: ['file_data'], fields: fileData },
  functionResponse: { aliases: ['function_response'], fields: functionResponse },
};
const media: FieldSpec = { ...fileData, uri: {}, fileData: { aliases: ['file_data'], fields: fileData } };
/** The provider takes one element without its array too. */
const content: FieldSpec = { parts: { fields: part, each: part } };

/** Where a body may name what the provider keeps: its file store, its context caches. */
export const referenceFields: FieldSpec = {
  cachedContent: { aliases: ['cached_content'] },
  contents: { fields: content, each: content },
  systemInstruction: { aliases: ['system_instruction'], fields: content },
};

/** The same of one instance of a long-running prediction: a video to extend, images to start from. */
export const instanceFields: FieldSpec = {
  prompt: { unread: true },
  video: { fields: media },
  image: { fields: media },
  lastFrame: { aliases: ['last_frame'], fields: media },
  referenceImages: { aliases: ['reference_images'], each: { image: { fields: media } } },
};

/** Each is looked up, so their number is bounded. */
const MOST_FILES = 1_000;

const referencePath = /(^|\.)(fileUri|uri)$/;
const cachePath = /(^|\.)cachedContent$/;

/**
 * Files of the provider's own store and context caches that a body names (contract: jobs/references): they belong to
 * the operator's account, so that only what an operation of the workspace made may be named; addresses elsewhere
 * pass.
 * @returns `invalid_body` for a name that is not a string, and for too many names.
 */
export function readReferences(scan: Scan): readonly ResourceReference[] | Refusal {
  const references = new Map<string, ResourceReference>();
  for (const found of [...scan.found.values(), ...scan.collected]) {
    const cache = cachePath.test(found.path);
    if (!cache && !referencePath.test(found.path)) continue;
    if (typeof found.value !== 'string') return wrongType(found, 'a string');
    const id = cache ? cacheIdIn(found.value) : nameIn(found.value);
    const kind = cache ? 'cache' : 'file';
    if (id !== null) references.set(`${kind} ${id}`, { kind, id, required: true });
    if (references.size > MOST_FILES) {
      return refusal(
        'invalid_body',
        `The body refers to over ${MOST_FILES} files stored at the provider; send fewer.`,
      );
    }
  }
  return [...references.values()];
}

/**
 * What an address names in the store: a file's id, or the address itself if it names no file, which then belongs to
 * no workspace; null: nothing, it points elsewhere.
 */
function nameIn(text: string): string | null {
  return fileIdIn(text) ?? (storePath(text.trim()) ? text : null);
}

/**
 * The id of a file in the provider's own store: "files/{id}", or an address of the store with or without
 * `:download`; null for every other address.
 */
export function fileIdIn(text: string): string | null {
  const name = storePath(text.trim());
  return /^\/?(?:download\/)?(?:v\d\w*\/)?files\/([^/:?#]+)/.exec(name ?? '')?.[1] ?? null;
}

/** The path after the store's host, escapes decoded; null: another host. */
function storePath(text: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return decoded(text);
  if (!URL.canParse(text)) return null;
  const { hostname, pathname } = new URL(text);
  return /generativelanguage[\w.-]*\.googleapis\.com\.?$/.test(hostname) ? decoded(pathname) : null;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
