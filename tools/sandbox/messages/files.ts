import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { freeOfCharge, type Opened, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { readForm } from '#tools/sandbox/wire/read-form';

interface StoredFile {
  readonly id: string;
  readonly bytes: Buffer;
  readonly filename: string;
  readonly createdAtMs: number;
}

const files = new Collection<StoredFile>();
const path = /^\/files(?:\/([^/]+)(\/content)?)?$/;
const opened = { model: 'echo', asked: 'echo', stream: false, prompt: '' };

/** Whether it is a request about files in the form of messages: the other one has the same paths. */
export function isOfMessageFiles(
  method: string,
  asked: string,
  headers: Readonly<Record<string, string>>,
): boolean {
  const [found, id, content] = path.exec(asked) ?? [];
  if (found === undefined || headers['anthropic-version'] === undefined) return false;
  if (id === undefined) return method === 'POST' || method === 'GET';
  return method === 'GET' || (method === 'DELETE' && content === undefined);
}

/** Files as api.anthropic.com stores them. */
export function openMessageFiles(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const [, written, content] = path.exec(seen.path) ?? [];
  if (written === undefined) {
    if (seen.method === 'POST') return upload(seen, memory);
    const data = files.list(memory).map(shownFile);
    return { ...opened, answer: () => whole({ data, has_more: false, next_page: null }) };
  }
  const file = findMessageFile(memory, decodeURIComponent(written));
  if (content) {
    const bytes = { kind: 'bytes', bytes: file.bytes, type: 'text/plain' } as const;
    return { ...opened, answer: () => ({ truth: freeOfCharge, content: bytes }) };
  }
  if (seen.method === 'GET') return { ...opened, answer: () => whole(shownFile(file)) };
  return {
    ...opened,
    answer: () => {
      files.remove(memory, file.id);
      return whole({ id: file.id, type: 'file_deleted' });
    },
  };
}

function findMessageFile(memory: ProviderMemory, id: string): StoredFile {
  const file = files.find(memory, id);
  if (!file) throw new ProviderFault(404, `File not found: ${id}`);
  return file;
}

function upload(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const bytes = readForm(seen)?.files.find(({ name }) => name === 'file')?.bytes;
  if (!bytes) throw new ProviderFault(400, 'file: Field required');
  const filename = /filename="([^"]*)"/.exec(seen.body.subarray(0, 4_096).toString('utf8'))?.[1] ?? 'file';
  return {
    ...opened,
    answer: () => {
      const file = { id: `file_${seen.id.slice(4)}`, bytes, filename, createdAtMs: seen.atMs };
      files.put(memory, file.id, file);
      return whole(shownFile(file));
    },
  };
}

function shownFile({ id, bytes, filename, createdAtMs }: StoredFile): object {
  return {
    id,
    type: 'file',
    filename,
    mime_type: 'text/plain',
    size_bytes: bytes.length,
    created_at: new Date(createdAtMs).toISOString(),
    downloadable: true,
  };
}
