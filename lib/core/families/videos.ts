import { modelEdits } from '#lib/core/families/edits';
import { type Family, type Operation, ownPath } from '#lib/core/families/family';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { faultReader } from '#lib/core/families/reading/fault';
import type { FieldSpec } from '#lib/core/families/scan';
import { readVideosAsk } from '#lib/core/families/videos/ask';
import { shownCharacter, shownVideos, videoJobs } from '#lib/core/families/videos/job';

const video = { kind: 'video', param: 'id' } as const;
const source = { kind: 'video', field: 'video.id' } as const;
/** The video itself comes as a file, or by its id. */
const sourceFields: FieldSpec = { model: {}, service_tier: {}, video: { fields: { id: {} }, part: 'file' } };
const stored = { family: 'videos', method: 'GET', prefixes: ['v1'], steps: 'stored', fields: null } as const;
const made = { family: 'videos', method: 'POST', prefixes: ['v1'], steps: 'generate' } as const;

const operations: readonly Operation[] = [
  {
    ...made,
    name: 'videos.create',
    path: 'videos',
    multipart: true,
    fields: {
      model: {},
      service_tier: {},
      seconds: {},
      size: {},
      input_reference: { fields: { file_id: {} }, part: 'file' },
      characters: { each: { id: {} } },
    },
  },
  {
    ...made,
    name: 'videos.remix',
    path: 'videos/{id}/remix',
    resource: video,
    // It has no model field; a provider that read one must find the model that was checked and priced.
    fields: { model: {}, service_tier: {}, seconds: {}, size: {} },
  },
  { ...made, name: 'videos.edit', path: 'videos/edits', multipart: true, source, fields: sourceFields },
  {
    ...made,
    name: 'videos.extend',
    path: 'videos/extensions',
    multipart: true,
    source,
    fields: { ...sourceFields, seconds: {} },
  },
  {
    ...stored,
    name: 'videos.characters.create',
    method: 'POST',
    path: 'videos/characters',
    multipart: true,
    stores: 'characters',
    fields: { model: {}, name: {} },
  },
  {
    ...stored,
    name: 'videos.characters.retrieve',
    path: 'videos/characters/{id}',
    resource: { kind: 'character', param: 'id' },
  },
  // Answered by the gateway itself: a provider's list would show other workspaces' videos.
  {
    ...stored,
    name: 'videos.list',
    path: 'videos',
    lists: { of: 'video', order: 'desc', usual: 20, most: 100 },
  },
  { ...stored, name: 'videos.retrieve', path: 'videos/{id}', resource: video },
  {
    ...stored,
    name: 'videos.delete',
    method: 'DELETE',
    path: 'videos/{id}',
    resource: video,
    resourceEffect: 'delete',
  },
  {
    ...stored,
    name: 'videos.content',
    path: 'videos/{id}/content',
    resource: video,
    download: 'direct',
    query: { variant: true },
  },
];

/** The asynchronous videos family: whatever makes a video answers with a job (contract: jobs/jobs). */
export const videos: Family = {
  id: 'videos',
  operations,
  readAsk: readVideosAsk,
  edits: ({ scan }, { upstreamModel }) => modelEdits(scan, upstreamModel),
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  // A job is charged at its end; its create call and whatever reads it are free.
  readUsage: () => null,
  outputBytes: () => 0,
  streamReader: () => new EventReader(),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: () => null,
  shown: ({ name, steps }, answer) => {
    if (name === 'videos.characters.create') return shownCharacter(answer);
    return steps === 'generate' ? shownVideos(answer) : [];
  },
  jobs: videoJobs,
  signOfLife: null,
  clientPath: '/v1/videos',
  leastBody: { prompt: 'hello' },
};
