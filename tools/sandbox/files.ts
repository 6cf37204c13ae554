import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import {
  type Answer,
  type Dialect,
  freeOfCharge,
  type Opened,
  plainFrame,
  type ReceivedRequest,
  whole,
} from '#tools/sandbox/dialect';
import { errorObject, missingParameter, ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { pageOf } from '#tools/sandbox/wire/page';
import { readForm } from '#tools/sandbox/wire/read-form';

/** A file that the provider stores for its account. */
export interface StoredFile {
  readonly id: string;
  readonly bytes: Buffer;
  readonly filename: string;
  readonly purpose: string;
  readonly createdAt: number;
}

export const storedFiles = new Collection<StoredFile>();
const path = /^\/files(?:\/([^/]+)(\/content)?)?$/;
const purposes: ReadonlySet<string> = new Set([
  'assistants',
  'batch',
  'fine-tune',
  'vision',
  'user_data',
  'evals',
]);

/** Files as api.openai.com stores them. */
export const files: Dialect = {
  id: 'files',

  handles: (method, asked) => {
    const [found, id, content] = path.exec(asked) ?? [];
    if (found === undefined) return false;
    if (id === undefined) return method === 'POST' || method === 'GET';
    return method === 'GET' || (method === 'DELETE' && content === undefined);
  },

  open(seen, _cache, memory) {
    const [, written, content] = path.exec(seen.path) ?? [];
    const opened = { model: 'echo', asked: 'echo', stream: false, prompt: '' };
    if (written === undefined) {
      if (seen.method === 'POST') return upload(seen, memory);
      return { ...opened, answer: () => pageOf(storedFiles.list(memory).map(shownFile), seen.query, 'desc') };
    }
    const file = getFile(memory, decodeURIComponent(written));
    if (content) return { ...opened, answer: () => contentOf(file) };
    if (seen.method === 'GET') return { ...opened, answer: () => whole(shownFile(file)) };
    return {
      ...opened,
      answer: () => {
        storedFiles.remove(memory, file.id);
        return whole({ id: file.id, object: 'file', deleted: true });
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'invalid_request_error') }),
  errorEvent: ({ message }) => plainFrame('error', { message }),
};

/** @throws ProviderFault 404 for an unknown id. */
export function getFile(memory: ProviderMemory, id: string): StoredFile {
  const file = storedFiles.find(memory, id);
  if (!file) throw new ProviderFault(404, `No such File object: ${id}`, null, 'id');
  return file;
}

function upload(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const form = readForm(seen);
  const purpose = form?.texts.get('purpose');
  const bytes = form?.files.find(({ name }) => name === 'file')?.bytes;
  if (!purpose) throw missingParameter('purpose');
  if (!bytes) throw missingParameter('file');
  if (!purposes.has(purpose)) {
    throw new ProviderFault(
      400,
      `'${purpose}' is not one of the purposes of files.`,
      'invalid_value',
      'purpose',
    );
  }
  const name = /filename="([^"]*)"/.exec(seen.body.subarray(0, 4_096).toString('utf8'))?.[1] ?? 'file';
  return {
    model: 'echo',
    asked: /^sandbox-(.+)$/.exec(name)?.[1]?.replaceAll('~', '/') ?? 'echo',
    stream: false,
    prompt: '',
    answer: () => {
      const file = { id: `file-${seen.id.slice(4)}`, bytes, filename: name, purpose, createdAt: seen.atMs };
      storedFiles.put(memory, file.id, file);
      return whole(shownFile(file));
    },
  };
}

function shownFile({ id, bytes, filename, purpose, createdAt }: StoredFile): object {
  return {
    id,
    object: 'file',
    bytes: bytes.length,
    created_at: Math.floor(createdAt / 1000),
    filename,
    purpose,
    status: 'processed',
    expires_at: null,
  };
}

function contentOf({ bytes }: StoredFile): Answer {
  return { truth: freeOfCharge, content: { kind: 'bytes', bytes, type: 'application/octet-stream' } };
}
