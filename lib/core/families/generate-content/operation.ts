import type { JobReader } from '#lib/core/facts/job';
import type { ShownResource } from '#lib/core/facts/resource';
import type { Operation } from '#lib/core/families/family';
import { fileIdIn } from '#lib/core/families/generate-content/references';
import { resourceName, resourcePath } from '#lib/core/families/generate-content/resource';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import { videoReport } from '#lib/core/families/reading/video';

/** Length of a video that a request without `durationSeconds` gets: the default of every Veo model. */
const SILENT_SECONDS = 8;

/** Where an operation's result lists its videos, in the field names of the protocol's several surfaces. */
const lists = ['generatedSamples', 'generatedVideos', 'videos'];

/** Long-running predictions: charged by length × videos that a finished one shows, filtered ones apart. */
export const operationJobs: JobReader = {
  kind: 'operation',
  pollPath: ({ id, upstreamModel }) => operationPath(resourceName({ upstreamModel }), id),
  read(facts, answer) {
    const operation = operationIn(answer);
    if (operation === null) return null;
    if (operation.done !== true) return { state: 'running', report: null, view: null };
    if (objectIn(operation.error)) return { state: 'failed', report: null, view: null };
    const report = videoReport(facts, undefined, videosIn(operation).length, SILENT_SECONDS);
    return { state: 'completed', report, view: null };
  },
};

/** Where an operation is read: under the provider's name of its model, however the client spelled that. */
export function operationPath(model: string, id: string): string {
  return `${resourcePath(model)}/operations/${encodeURIComponent(id)}`;
}

/** What an answer shows: a new operation's id; files, once it is done. */
export function shownIn({ name, steps }: Operation, answer: unknown): readonly ShownResource[] {
  const predicts = name === 'content.predictLongRunning';
  if (!predicts && steps !== 'stored') return [];
  const operation = operationIn(answer);
  if (operation === null) return [];
  const id = /(?:^|\/)operations\/([^/]+)$/.exec(textIn(operation.name) ?? '')?.[1];
  const files = videosIn(operation).flatMap(
    (video) => fileIdIn(textIn(objectIn(video.video)?.uri) ?? '') ?? [],
  );
  return [
    ...(predicts && id !== undefined ? [{ kind: 'operation', id } as const] : []),
    ...files.map((file) => ({ kind: 'file', id: file }) as const),
  ];
}

/** An operation object; null for an error page or anything else. */
function operationIn(answer: unknown): JsonObject | null {
  const operation = objectIn(answer);
  const named = /(^|\/)operations\/[^/]+$/.test(textIn(operation?.name) ?? '');
  return operation && (named || typeof operation.done === 'boolean') ? operation : null;
}

function videosIn(operation: JsonObject): readonly JsonObject[] {
  const response = objectIn(operation.response);
  for (const from of [objectIn(response?.generateVideoResponse), response]) {
    for (const name of lists) {
      const list = listIn(from?.[name]);
      if (list.length > 0) return list.map(objectIn).filter((video) => video !== null);
    }
  }
  return [];
}
