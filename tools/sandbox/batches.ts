import { Collection, ProviderMemory } from '#tools/sandbox/content/memory';
import { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { type Dialect, type Opened, plainFrame, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { getFile, storedFiles } from '#tools/sandbox/files';
import { type JobCourse, jobCourse, standOf } from '#tools/sandbox/scenario/job';
import { findDirective, numberParam, parseName } from '#tools/sandbox/scenario/name';
import { Scenarios } from '#tools/sandbox/scenario/plan';
import { errorObject, missingParameter, ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { pageOf } from '#tools/sandbox/wire/page';

/** A batch that the provider runs for its account. */
interface Batch {
  readonly id: string;
  readonly inputFile: string;
  readonly endpoint: string;
  readonly metadata: unknown;
  readonly createdAtMs: number;
  readonly course: JobCourse;
  /** Lines that are answered before it expires; null: all. */
  readonly answered: number | null;
  readonly lines: readonly string[];
  cancelledAtMs: number | null;
  ended: Ended | null;
}

interface Ended {
  readonly status: 'completed' | 'failed' | 'expired' | 'cancelled';
  readonly atMs: number;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  readonly completed: number;
  readonly failed: number;
}

const batches = new Collection<Batch>();
const path = /^\/batches(?:\/([^/]+)(\/cancel)?)?$/;
const usualMs = 1_000;

/**
 * Batches as api.openai.com runs them. `metadata.sandbox` is a name whose parameters decide: those of jobs, and
 * `answered=` lines after which it expires.
 * @param families that answer the lines.
 */
export function batchesOf(families: readonly Dialect[]): Dialect {
  return {
    id: 'batches',

    handles: (method, asked) => {
      const [found, id, cancel] = path.exec(asked) ?? [];
      if (found === undefined) return false;
      if (cancel) return method === 'POST';
      return method === 'GET' || (id === undefined && method === 'POST');
    },

    open(seen, _cache, memory) {
      const [, written, cancel] = path.exec(seen.path) ?? [];
      const opened = { model: 'echo', asked: 'echo', stream: false, prompt: '' };
      if (written === undefined && seen.method === 'POST') return begin(seen, memory);
      if (written === undefined) {
        const shown = () => batches.list(memory).map((one) => shownBatch(one, seen.atMs));
        return { ...opened, answer: () => pageOf(shown(), seen.query, 'desc') };
      }
      const batch = batches.find(memory, decodeURIComponent(written));
      if (!batch) throw new ProviderFault(404, `No batch found with id '${written}'.`);
      return {
        ...opened,
        answer: () => {
          if (cancel && batch.ended === null) batch.cancelledAtMs ??= seen.atMs;
          end(families, memory, batch, seen.atMs);
          return whole(shownBatch(batch, seen.atMs));
        },
      };
    },

    errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'invalid_request_error') }),
    errorEvent: ({ message }) => plainFrame('error', { message }),
  };
}

function begin(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const asked = readJson(seen.body);
  const inputFile = String(asked.input_file_id ?? '');
  if (!asked.endpoint) throw missingParameter('endpoint');
  if (asked.completion_window !== '24h') throw missingParameter('completion_window');
  const file = getFile(memory, inputFile);
  const wish = String(record(asked.metadata).sandbox ?? 'echo');
  return {
    model: 'echo',
    asked: wish,
    stream: false,
    prompt: '',
    answer: () => {
      const name = parseName(wish);
      const batch: Batch = {
        id: `batch_${seen.id.slice(4)}`,
        inputFile,
        endpoint: String(asked.endpoint),
        metadata: asked.metadata ?? null,
        createdAtMs: seen.atMs,
        course: jobCourse(name, seen.atMs, usualMs),
        answered: name.params.has('answered') ? numberParam(name, 'answered', 0) : null,
        lines: file.bytes.toString('utf8').split('\n').filter(Boolean),
        cancelledAtMs: null,
        ended: null,
      };
      batches.put(memory, batch.id, batch);
      return whole(shownBatch(batch, seen.atMs));
    },
  };
}

/** Writes the files of results once it has ended. */
function end(families: readonly Dialect[], memory: ProviderMemory, batch: Batch, atMs: number): void {
  const { state } = standOf(batch.course, atMs);
  const cancelled = batch.cancelledAtMs !== null && atMs > batch.cancelledAtMs;
  if (batch.ended || (!cancelled && state !== 'completed' && state !== 'failed')) return;
  if (state === 'failed' && !cancelled) {
    batch.ended = { status: 'failed', atMs, outputFile: null, errorFile: null, completed: 0, failed: 0 };
    return;
  }
  const most = batch.answered ?? (cancelled ? Math.floor(batch.lines.length / 2) : batch.lines.length);
  const output: string[] = [];
  const errors: string[] = [];
  for (const [index, line] of batch.lines.entries()) {
    const code = cancelled ? 'batch_cancelled' : 'batch_expired';
    const result =
      index < most ? answerLine(families, batch, line, index) : unanswered(batch, line, index, code);
    (result.good ? output : errors).push(JSON.stringify(result.body));
  }
  const put = (which: string, lines: readonly string[]) => {
    if (lines.length === 0) return null;
    const id = `file-${which}${batch.id.slice(6)}`;
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    storedFiles.put(memory, id, {
      id,
      bytes,
      filename: `${batch.id}_${which}.jsonl`,
      purpose: 'batch_output',
      createdAt: atMs,
    });
    return id;
  };
  batch.ended = {
    status: cancelled ? 'cancelled' : most < batch.lines.length ? 'expired' : 'completed',
    atMs,
    outputFile: put('output', output),
    errorFile: put('error', errors),
    completed: output.length,
    failed: errors.length,
  };
}

interface Result {
  readonly good: boolean;
  readonly body: object;
}

/** A line is answered by its family, as a request of its own. */
function answerLine(families: readonly Dialect[], batch: Batch, line: string, index: number): Result {
  const asked = record(JSON.parse(line));
  const id = `req_${batch.id.slice(6)}${index}`;
  const seen: ReceivedRequest = {
    id,
    method: 'POST',
    path: String(asked.url).replace(/^\/v1/, ''),
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.from(JSON.stringify(asked.body)),
    atMs: batch.createdAtMs,
  };
  const wrap = (status: number, body: unknown) => ({
    good: status < 300,
    body: {
      id: `batch_${id}`,
      custom_id: asked.custom_id,
      response: { status_code: status, request_id: id, body },
      error: null,
    },
  });
  const family = families.find((one) => one.handles('POST', seen.path, seen.headers));
  try {
    if (!family) throw new ProviderFault(404, `Invalid URL (POST ${String(asked.url)})`);
    const opened = family.open(seen, new PrefixCache(), new ProviderMemory());
    const wish = findDirective(opened.prompt) ?? opened.model;
    const { behaviour } = new Scenarios(0).plan(wish, undefined);
    if (behaviour.instead)
      throw new ProviderFault(500, 'The server had an error while processing your request.');
    const { content } = opened.answer(parseName(opened.model).base, behaviour);
    if (content.kind !== 'whole') throw new ProviderFault(400, 'Streaming is not supported in batches.');
    return wrap(200, JSON.parse(content.text));
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    return wrap(error.status, JSON.parse((family ?? families[0])?.errorBody(error) ?? '{}'));
  }
}

function unanswered(batch: Batch, line: string, index: number, code: string): Result {
  const asked = record(JSON.parse(line));
  const error = { code, message: 'This request could not be executed before the batch ended.' };
  return {
    good: false,
    body: { id: `batch_req_${batch.id.slice(6)}${index}`, custom_id: asked.custom_id, response: null, error },
  };
}

function shownBatch({ ended, ...batch }: Batch, atMs: number): object {
  const { state } = standOf(batch.course, atMs);
  const running =
    batch.cancelledAtMs !== null ? 'cancelling' : state === 'queued' ? 'validating' : 'in_progress';
  const at = ended ? Math.floor(ended.atMs / 1000) : null;
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: null,
    input_file_id: batch.inputFile,
    completion_window: '24h',
    status: ended?.status ?? running,
    output_file_id: ended?.outputFile ?? null,
    error_file_id: ended?.errorFile ?? null,
    created_at: Math.floor(batch.createdAtMs / 1000),
    expires_at: Math.floor(batch.createdAtMs / 1000) + 86_400,
    completed_at: ended?.status === 'completed' ? at : null,
    failed_at: ended?.status === 'failed' ? at : null,
    expired_at: ended?.status === 'expired' ? at : null,
    cancelled_at: ended?.status === 'cancelled' ? at : null,
    request_counts: {
      total: batch.lines.length,
      completed: ended?.completed ?? 0,
      failed: ended?.failed ?? 0,
    },
    metadata: batch.metadata,
  };
}
