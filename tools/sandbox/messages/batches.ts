import { Collection, ProviderMemory } from '#tools/sandbox/content/memory';
import { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import {
  type Answer,
  type Dialect,
  freeOfCharge,
  type Opened,
  type ReceivedRequest,
  whole,
} from '#tools/sandbox/dialect';
import { type JobCourse, jobCourse, standOf } from '#tools/sandbox/scenario/job';
import { findDirective, numberParam, parseName } from '#tools/sandbox/scenario/name';
import { Scenarios } from '#tools/sandbox/scenario/plan';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** A batch of messages that the provider runs for its account. */
interface Batch {
  readonly id: string;
  readonly createdAtMs: number;
  readonly course: JobCourse;
  /** Requests that are answered before the others expire; null: all. */
  readonly answered: number | null;
  readonly requests: readonly unknown[];
  cancelledAtMs: number | null;
  ended: Ended | null;
}

interface Ended {
  readonly atMs: number;
  readonly results: string;
  readonly counts: Readonly<Record<Outcome, number>>;
}

type Outcome = 'succeeded' | 'errored' | 'canceled' | 'expired';

const batches = new Collection<Batch>();
const path = /^\/messages\/batches(?:\/([^/]+)(?:\/(cancel|results))?)?$/;
const opened = { model: 'echo', asked: 'echo', stream: false, prompt: '' };
const usualMs = 1_000;

export function isOfMessageBatches(method: string, asked: string): boolean {
  const [found, id, part] = path.exec(asked) ?? [];
  if (found === undefined) return false;
  if (part === 'cancel') return method === 'POST';
  if (id === undefined) return method === 'GET' || method === 'POST';
  return method === 'GET' || (method === 'DELETE' && part === undefined);
}

/**
 * Batches as api.anthropic.com runs them. `metadata.user_id` of the first request is a name whose parameters decide:
 * those of jobs, and `answered=` requests after which the others expire.
 */
export function openMessageBatches(family: Dialect, seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const [, written, part] = path.exec(seen.path) ?? [];
  if (written === undefined && seen.method === 'POST') return begin(seen, memory);
  if (written === undefined) {
    const data = batches.list(memory).map(shownBatch).reverse();
    return { ...opened, answer: () => whole({ data, has_more: false, first_id: null, last_id: null }) };
  }
  const batch = batches.find(memory, decodeURIComponent(written));
  if (!batch) throw new ProviderFault(404, `Message batch ${written} not found`);
  return {
    ...opened,
    answer: () => {
      if (part === 'cancel' && batch.ended === null) batch.cancelledAtMs ??= seen.atMs;
      end(family, batch, seen.atMs);
      if (part === 'results') return resultsOf(batch);
      if (seen.method === 'DELETE') return remove(batch, memory);
      return whole(shownBatch(batch));
    },
  };
}

function begin(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const { requests } = readJson(seen.body);
  if (!Array.isArray(requests) || requests.length === 0)
    throw new ProviderFault(400, 'requests: Field required');
  const wish = String(record(record(record(requests[0]).params).metadata).user_id ?? 'echo');
  return {
    ...opened,
    asked: wish,
    answer: () => {
      const name = parseName(wish);
      const batch: Batch = {
        id: `msgbatch_${seen.id.slice(4)}`,
        createdAtMs: seen.atMs,
        course: jobCourse(name, seen.atMs, usualMs),
        answered: name.params.has('answered') ? numberParam(name, 'answered', 0) : null,
        requests,
        cancelledAtMs: null,
        ended: null,
      };
      batches.put(memory, batch.id, batch);
      return whole(shownBatch(batch));
    },
  };
}

function remove(batch: Batch, memory: ProviderMemory): Answer {
  if (!batch.ended) throw new ProviderFault(400, 'A batch cannot be deleted before it has ended.');
  batches.remove(memory, batch.id);
  return whole({ id: batch.id, type: 'message_batch_deleted' });
}

function resultsOf({ ended, id }: Batch): Answer {
  if (!ended) throw new ProviderFault(404, `The results of ${id} are not available yet.`);
  const bytes = Buffer.from(ended.results);
  return { truth: freeOfCharge, content: { kind: 'bytes', bytes, type: 'application/x-jsonl' } };
}

/** Writes the results once it has ended. */
function end(family: Dialect, batch: Batch, atMs: number): void {
  const { state } = standOf(batch.course, atMs);
  const cancelled = batch.cancelledAtMs !== null && atMs > batch.cancelledAtMs;
  if (batch.ended || (!cancelled && state !== 'completed' && state !== 'failed')) return;
  const { length } = batch.requests;
  const most = batch.answered ?? (cancelled ? Math.floor(length / 2) : length);
  const counts = { succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  const results = batch.requests.map((request, index) => {
    const rest = cancelled ? 'canceled' : 'expired';
    const result = index < most ? answerOf(family, batch, request, index) : { type: rest as Outcome };
    counts[result.type] += 1;
    return `${JSON.stringify({ custom_id: record(request).custom_id, result })}\n`;
  });
  batch.ended = { atMs, results: results.join(''), counts };
}

/** A request is answered by the family, as one of its own. */
function answerOf(
  family: Dialect,
  batch: Batch,
  request: unknown,
  index: number,
): { readonly type: Outcome; readonly message?: unknown; readonly error?: unknown } {
  const seen: ReceivedRequest = {
    id: `req_${batch.id.slice(9)}${index}`,
    method: 'POST',
    path: '/messages',
    query: new URLSearchParams(),
    headers: { 'anthropic-version': '2023-06-01' },
    body: Buffer.from(JSON.stringify(record(request).params)),
    atMs: batch.createdAtMs,
  };
  try {
    const asked = family.open(seen, new PrefixCache(), new ProviderMemory());
    const { behaviour } = new Scenarios(0).plan(findDirective(asked.prompt) ?? asked.model, undefined);
    if (behaviour.instead) throw new ProviderFault(500, 'Internal server error');
    const { content } = asked.answer(parseName(asked.model).base, behaviour);
    if (content.kind !== 'whole') throw new ProviderFault(400, 'Streaming is not supported in batches.');
    return { type: 'succeeded', message: JSON.parse(content.text) };
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    return { type: 'errored', error: JSON.parse(family.errorBody(error)) };
  }
}

function shownBatch({ id, createdAtMs, requests, cancelledAtMs, ended }: Batch): object {
  const at = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const running = cancelledAtMs === null ? 'in_progress' : 'canceling';
  const counts = ended?.counts ?? { succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  return {
    id,
    type: 'message_batch',
    processing_status: ended ? 'ended' : running,
    request_counts: { processing: ended ? 0 : requests.length, ...counts },
    ended_at: at(ended?.atMs ?? null),
    created_at: at(createdAtMs),
    expires_at: at(createdAtMs + 86_400_000),
    archived_at: null,
    cancel_initiated_at: at(cancelledAtMs),
    results_url: ended ? `https://api.anthropic.com/v1/messages/batches/${id}/results` : null,
  };
}
