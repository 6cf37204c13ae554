import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { BatchResults, JobReader, JobState } from '#lib/core/facts/job';
import type { ShownResource } from '#lib/core/facts/resource';
import type { Operation } from '#lib/core/families/family';
import { readText, takeAll, wrongType } from '#lib/core/families/reading/fields';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { metadataOf } from '#lib/core/families/reading/metadata';
import type { Scan } from '#lib/core/families/scan';

const common = { family: 'chat', method: 'GET', prefixes: ['v1'], fields: null } as const;
const batch = { ...common, steps: 'stored', resource: { kind: 'batch', param: 'id' } } as const;

/** Requests that a provider answers within a day, at lower prices (contract: batches/operations). */
export const batchOperations: readonly Operation[] = [
  {
    ...common,
    name: 'batches.create',
    method: 'POST',
    path: 'batches',
    steps: 'generate',
    runsFile: 'input_file_id',
    fields: { input_file_id: {}, endpoint: {}, completion_window: {} },
  },
  {
    ...common,
    name: 'batches.list',
    steps: 'stored',
    path: 'batches',
    lists: { of: 'batch', order: 'desc', usual: 20, most: 100 },
  },
  { ...batch, name: 'batches.retrieve', path: 'batches/{id}' },
  {
    ...batch,
    name: 'batches.cancel',
    method: 'POST',
    path: 'batches/{id}/cancel',
    resourceEffect: 'cancel',
  },
];

/** What a request for a batch names. @returns `invalid_body` for a field that is missing or no string. */
export function readBatch(scan: Scan): { readonly file: string; readonly endpoint: string } | Refusal {
  const read = takeAll({ file: required(scan, 'input_file_id'), endpoint: required(scan, 'endpoint') });
  if (isRefusal(read)) return read;
  const window = readText(scan, 'completion_window');
  return isRefusal(window) ? window : read;
}

function required(scan: Scan, name: string): string | Refusal {
  const found = scan.found.get(name);
  if (found === undefined) return refusal('invalid_body', `Field "${name}" is missing.`);
  return typeof found.value === 'string' ? found.value : wrongType(found, 'a string');
}

/** An unknown word is not an end. One that has expired has ended well: what was answered by then is charged. */
const states: Readonly<Record<string, JobState>> = {
  validating: 'queued',
  completed: 'completed',
  expired: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Batches: each line is charged by its result, which is read when all have ended (contract: batches/charge). */
export const batchJobs: JobReader = {
  kind: 'batch',
  pollPath: ({ id }) => `/batches/${encodeURIComponent(id)}`,
  // Answers first: if lines are in both files, these count.
  results: (_job, view) => [
    ...resultFile(view?.output_file_id, 'output'),
    ...resultFile(view?.error_file_id, 'error'),
  ],
  answered: (view) => Number(objectIn(view?.request_counts)?.completed ?? 0),
  read(_facts, answer) {
    const seen = batchIn(answer);
    if (seen === null) return null;
    const status = textIn(seen.status) ?? '';
    const state = Object.hasOwn(states, status) ? (states[status] ?? 'running') : 'running';
    return { state, report: null, view: viewOf(seen) };
  },
};

function resultFile(named: unknown, purpose: 'output' | 'error'): readonly BatchResults[] {
  const id = textIn(named);
  return id === null ? [] : [{ path: `/files/${encodeURIComponent(id)}/content`, file: { id, purpose } }];
}

/** What an answer about a batch shows: the batch, and the files of its results. */
export function shownBatch({ steps }: Operation, answer: unknown): readonly ShownResource[] {
  const seen = batchIn(answer);
  if (seen === null) return [];
  if (steps === 'generate') return [{ kind: 'batch', id: textIn(seen.id) ?? '' }];
  return resultFiles(seen).map((id) => ({ kind: 'file', id }));
}

/** Ids of the files with results: of the lines that were answered, then of the others. */
function resultFiles(view: JsonObject): readonly string[] {
  return [textIn(view.output_file_id), textIn(view.error_file_id)].filter((id) => id !== null);
}

function batchIn(answer: unknown): JsonObject | null {
  const seen = objectIn(answer);
  return seen?.object === 'batch' && textIn(seen.id) !== null ? seen : null;
}

/** Its errors may quote lines: who reads the batch itself gets them. */
function viewOf({ errors: _, metadata, ...seen }: JsonObject): JsonObject {
  return { ...seen, errors: null, metadata: metadata ? metadataOf(metadata) : null };
}
