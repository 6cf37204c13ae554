import { createHash } from 'node:crypto';
import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { type Answer, freeOfCharge, type Opened, type ReceivedRequest } from '#tools/sandbox/dialect';
import { keptName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

interface StoredFile {
  readonly id: string;
  readonly bytes: Buffer;
  readonly mimeType: string;
  readonly displayName: string | null;
  readonly createdAtMs: number;
}

/** An upload whose parts are still to come. */
interface Upload {
  readonly announced: number;
  readonly mimeType: string;
  readonly displayName: string | null;
  /** The name that decides what happens to its parts. */
  readonly asked: string;
  parts: Buffer[];
  received: number;
}

const files = new Collection<StoredFile>();
const uploads = new Collection<Upload>();
const uploadPath = /^\/upload\/v1\w*\/files$/;
const filePath = /^\/files(?:\/([^/:]+))?$/;
const host = 'https://generativelanguage.googleapis.com';
const keptMs = 48 * 3_600_000;
const opened = { model: 'echo', asked: 'echo', stream: false, prompt: '' };

/** Whether it is a request about files in this family's form: others have the same paths. */
export function isOfContentFiles(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): boolean {
  if (uploadPath.test(path)) return method === 'POST';
  if (headers['x-goog-api-key'] === undefined) return false;
  const [found, id] = filePath.exec(path) ?? [];
  return found !== undefined && (method === 'GET' || (method === 'DELETE' && id !== undefined));
}

/**
 * Files as generativelanguage.googleapis.com stores them, uploaded in parts. A display name such as
 * "sandbox-fault~status-500" decides what happens to the beginning of the upload, and its parameter `post` to the parts.
 */
export function openContentFiles(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  if (uploadPath.test(seen.path)) {
    const id = seen.query.get('upload_id');
    return id === null ? start(seen, memory) : takePart(seen, memory, id);
  }
  const [, written] = filePath.exec(seen.path) ?? [];
  if (written === undefined) {
    return { ...opened, answer: () => whole({ files: files.list(memory).map(shownFile) }) };
  }
  const file = getFile(memory, decodeURIComponent(written));
  if (seen.method === 'GET') return { ...opened, answer: () => whole(shownFile(file)) };
  return {
    ...opened,
    answer: () => {
      files.remove(memory, file.id);
      return whole({});
    },
  };
}

/** Tokens of a file that a request names by its address; null: the address is not one of the store's. */
export function storedFileTokens(memory: ProviderMemory, uri: string): number | null {
  const id = /\/files\/([a-z0-9-]+)$/.exec(uri)?.[1];
  if (id === undefined || !uri.startsWith(host)) return null;
  const { bytes, mimeType } = getFile(memory, id);
  return mimeType.startsWith('text/') ? textTokens(bytes.toString('utf8')) : 258;
}

/** @throws ProviderFault 403, as for a file of another account. */
function getFile(memory: ProviderMemory, id: string): StoredFile {
  const file = files.find(memory, id);
  if (file) return file;
  throw new ProviderFault(403, `You do not have permission to access the File ${id} or it may not exist.`);
}

function start(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const { headers } = seen;
  if (headers['x-goog-upload-protocol'] !== 'resumable' || headers['x-goog-upload-command'] !== 'start') {
    throw new ProviderFault(400, 'Only resumable uploads are simulated.');
  }
  const { displayName } = record(readJson(seen.body, 'Invalid JSON payload received.').file);
  const asked = /^sandbox-(.+)$/.exec(String(displayName))?.[1]?.replaceAll('~', '/') ?? 'echo';
  const upload: Upload = {
    announced: Number(headers['x-goog-upload-header-content-length']),
    mimeType: headers['x-goog-upload-header-content-type'] ?? 'application/octet-stream',
    displayName: typeof displayName === 'string' ? displayName : null,
    asked: keptName(asked, 'POST'),
    parts: [],
    received: 0,
  };
  return {
    ...opened,
    asked,
    answer: () => {
      const id = `up${seen.id.slice(4)}`;
      uploads.put(memory, id, upload);
      const url = `${host}${seen.path}?upload_id=${id}&upload_protocol=resumable`;
      return empty({ 'x-goog-upload-status': 'active', 'x-goog-upload-url': url });
    },
  };
}

function takePart(seen: ReceivedRequest, memory: ProviderMemory, id: string): Opened {
  const upload = uploads.find(memory, id);
  if (!upload) throw new ProviderFault(404, 'The upload is not known.');
  const asked = (seen.headers['x-goog-upload-command'] ?? '').split(',').map((one) => one.trim());
  // Asking how far it came always works.
  const fate = asked.includes('upload') ? upload.asked : 'echo';
  return { ...opened, asked: fate, answer: () => answerPart(seen, memory, { id, upload, asked }) };
}

function answerPart(
  seen: ReceivedRequest,
  memory: ProviderMemory,
  { id, upload, asked }: { readonly id: string; readonly upload: Upload; readonly asked: readonly string[] },
): Answer {
  if (asked.includes('cancel')) {
    uploads.remove(memory, id);
    return empty({ 'x-goog-upload-status': 'cancelled' });
  }
  if (asked.includes('upload')) {
    if (Number(seen.headers['x-goog-upload-offset']) !== upload.received) {
      throw new ProviderFault(400, `The upload continues at byte ${upload.received}.`);
    }
    upload.parts.push(seen.body);
    upload.received += seen.body.length;
  }
  if (!asked.includes('finalize')) {
    const received = String(upload.received);
    return empty({ 'x-goog-upload-status': 'active', 'x-goog-upload-size-received': received });
  }
  if (upload.received !== upload.announced) {
    throw new ProviderFault(400, `The upload has ${upload.received} of ${upload.announced} bytes.`);
  }
  uploads.remove(memory, id);
  const file: StoredFile = {
    id: seen.id.slice(4, 16),
    bytes: Buffer.concat(upload.parts),
    mimeType: upload.mimeType,
    displayName: upload.displayName,
    createdAtMs: seen.atMs,
  };
  files.put(memory, file.id, file);
  return { ...whole({ file: shownFile(file) }), headers: { 'x-goog-upload-status': 'final' } };
}

function shownFile({ id, bytes, mimeType, displayName, createdAtMs }: StoredFile): object {
  const createTime = new Date(createdAtMs).toISOString();
  return {
    name: `files/${id}`,
    ...(displayName === null ? {} : { displayName }),
    mimeType,
    sizeBytes: String(bytes.length),
    createTime,
    updateTime: createTime,
    expirationTime: new Date(createdAtMs + keptMs).toISOString(),
    sha256Hash: createHash('sha256').update(bytes).digest('base64'),
    uri: `${host}/v1beta/files/${id}`,
    state: 'ACTIVE',
    source: 'UPLOADED',
  };
}

function whole(body: object): Answer {
  return {
    truth: freeOfCharge,
    content: { kind: 'whole', text: `${JSON.stringify(body, null, 2)}\n`, usage: null },
  };
}

function empty(headers: Readonly<Record<string, string>>): Answer {
  const content = { kind: 'bytes', bytes: Buffer.alloc(0), type: 'text/plain; charset=utf-8' } as const;
  return { truth: freeOfCharge, headers, content };
}
