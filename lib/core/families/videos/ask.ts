import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { JobFacts } from '#lib/core/facts/job';
import type { ResourceReference } from '#lib/core/facts/resource';
import type { Ask, RawAsk } from '#lib/core/families/family';
import { readModel, readText, readTier, takeAll, wrongType } from '#lib/core/families/reading/fields';
import { askedVideos, readSeconds, secondsIn } from '#lib/core/families/reading/video';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';

/** Where a body of this family carries an inline image. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'input_reference', 'video']);

/**
 * What a call that makes a video asks for; its answer is always a job (contract: jobs/jobs). What starts from another
 * video inherits model, length and size: the pipeline names them in `params`, the last two where they are known. An
 * extension only inherits the size.
 */
export function readVideosAsk(raw: RawAsk): Ask | Refusal {
  const { operation, params, scan } = raw;
  const read = takeAll({
    said: params.model === undefined ? readModel(scan) : readText(scan, 'model'),
    named: readSeconds(scan, 'seconds'),
    sized: readText(scan, 'size'),
    serviceTier: readTier(scan),
    file: readText(scan, 'input_reference.file_id'),
    characters: readCharacters(scan),
  });
  if (isRefusal(read)) return read;
  const { said, named, sized, serviceTier, file, characters } = read;
  const extending = operation.name === 'videos.extend';
  const starts = operation.resource !== undefined || operation.source !== undefined;
  const seconds = named ?? (starts && !extending ? secondsIn(params.seconds) : null);
  const size = sized ?? (starts ? (params.size ?? null) : null);
  const job: JobFacts = {
    ...(seconds === null ? {} : { seconds }),
    ...(size === null ? {} : { size }),
    ...(extending ? { extends: 1 } : {}),
  };
  const references: readonly ResourceReference[] = [
    // Files are uploaded elsewhere: one that is named by its id can be none of this workspace.
    ...(file === null ? [] : [{ kind: 'file', id: file, required: true } as const]),
    ...characters,
  ];
  return {
    ...raw,
    model: params.model ?? said ?? '',
    stream: false,
    budget: null,
    choices: 1,
    serviceTier,
    weight: weigh(scan, mediaKeys, 0),
    ...(references.length === 0 ? {} : { references }),
    job,
    media: askedVideos(job, 1, starts),
  };
}

/** Far more than any video shows; each is looked up. */
const MOST_CHARACTERS = 100;

/** The characters that a video shows, which must be the workspace's own. */
function readCharacters({ collected }: Scan): readonly ResourceReference[] | Refusal {
  const ids = new Set<string>();
  for (const found of collected) {
    if (found.path !== 'characters[].id' || found.type === 'null') continue;
    if (typeof found.value !== 'string') return wrongType(found, 'a string');
    ids.add(found.value);
  }
  if (ids.size > MOST_CHARACTERS) {
    return refusal('invalid_body', `The request names over ${MOST_CHARACTERS} characters; name fewer.`);
  }
  return [...ids].map((id) => ({ kind: 'character', id, required: true }));
}
