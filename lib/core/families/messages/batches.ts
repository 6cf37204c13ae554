import type { JobReader, JobState } from '#lib/core/facts/job';
import type { ShownResource } from '#lib/core/facts/resource';
import { applyEdits, replaceValue } from '#lib/core/families/edits';
import type { Operation } from '#lib/core/families/family';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { scan } from '#lib/core/families/scan';

const common = {
  family: 'messages',
  method: 'GET',
  prefixes: ['v1'],
  query: { beta: true },
  fields: null,
} as const;
const batch = { ...common, steps: 'stored', resource: { kind: 'batch', param: 'id' } } as const;

/** Requests of one body that a provider answers within a day, at lower prices (contract: batches/messages). */
export const messageBatchOperations: readonly Operation[] = [
  {
    ...common,
    name: 'messages.batches.create',
    method: 'POST',
    path: 'messages/batches',
    steps: 'generate',
    runsRequests: 'requests',
    stores: 'messageBatches',
    fields: { requests: {} },
  },
  {
    ...common,
    name: 'messages.batches.list',
    steps: 'stored',
    path: 'messages/batches',
    lists: { of: 'batch', order: 'desc', usual: 20, most: 1_000, paging: 'ids' },
  },
  { ...batch, name: 'messages.batches.retrieve', path: 'messages/batches/{id}' },
  {
    ...batch,
    name: 'messages.batches.cancel',
    method: 'POST',
    path: 'messages/batches/{id}/cancel',
    resourceEffect: 'cancel',
  },
  {
    ...batch,
    name: 'messages.batches.delete',
    method: 'DELETE',
    path: 'messages/batches/{id}',
    resourceEffect: 'delete',
    deletesResults: true,
  },
  {
    ...batch,
    name: 'messages.batches.results',
    path: 'messages/batches/{id}/results',
    download: 'direct',
    shows: false,
  },
];

/** Each request is charged by its result, which is read when all have ended (contract: batches/charge). */
export const messageBatchJobs: JobReader = {
  kind: 'batch',
  pollPath: ({ id }) => batchPath(id),
  results: ({ id }, view) =>
    textIn(view?.results_url) === null ? [] : [{ path: `${batchPath(id)}/results` }],
  answered: (view) => Number(objectIn(view?.request_counts)?.succeeded ?? 0),
  read(_facts, answer) {
    const seen = batchIn(answer);
    if (seen === null) return null;
    return { state: stateOf(seen), report: null, view: { ...seen, results_url: resultsAddress(seen) } };
  },
};

function batchPath(id: string): string {
  return `/messages/batches/${encodeURIComponent(id)}`;
}

/** An unknown word is not an end. What was answered before it expired or was cancelled is charged. */
function stateOf({ processing_status: status, cancel_initiated_at: cancelled }: JsonObject): JobState {
  if (status !== 'ended') return 'running';
  return textIn(cancelled) === null ? 'completed' : 'cancelled';
}

/** What an answer about a batch shows: the batch that was created. */
export function shownMessageBatch({ steps }: Operation, answer: unknown): readonly ShownResource[] {
  const id = textIn(batchIn(answer)?.id);
  return steps === 'generate' && id !== null ? [{ kind: 'batch', id }] : [];
}

function batchIn(answer: unknown): JsonObject | null {
  const seen = objectIn(answer);
  return seen?.type === 'message_batch' && textIn(seen.id) !== null ? seen : null;
}

/** Where clients read the results: here, not at the provider's own address. A reference without a host, as clients may
 * reach this gateway by several. */
function resultsAddress({ id, results_url: url }: JsonObject): string | null {
  return textIn(url) === null ? null : `/v1${batchPath(textIn(id) ?? '')}/results`;
}

/**
 * An answer about a batch, whose SDKs read the results at the address in it, with that of the gateway in its place
 * (contract: batches/messages-results). Everything else stays as it came.
 */
export function withResultsHere(answer: Uint8Array): Uint8Array {
  const scanned = scan(answer, { id: {}, results_url: {} });
  if ('fault' in scanned) return answer;
  const url = scanned.found.get('results_url');
  const id = scanned.found.get('id')?.value;
  if (typeof url?.value !== 'string' || typeof id !== 'string') return answer;
  const here = resultsAddress({ id, results_url: url.value });
  return applyEdits(answer, [replaceValue(url, JSON.stringify(here))]);
}
