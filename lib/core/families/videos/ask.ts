import { isRefusal, type Refusal } from '#lib/core/errors';
import type { JobFacts } from '#lib/core/facts/job';
import type { Ask, RawAsk } from '#lib/core/families/family';
import { readModel, readText, readTier, takeAll } from '#lib/core/families/reading/fields';
import { askedVideos, readSeconds, secondsIn } from '#lib/core/families/reading/video';
import { weigh } from '#lib/core/families/reading/weight';

/** Where a body of this family carries an inline image. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'input_reference']);

/**
 * What a create call or a remix asks for; its answer is always a job (contract: jobs/jobs). A remix inherits
 * model, length and size: the pipeline names them in `params`, the last two where they are known.
 */
export function readVideosAsk(raw: RawAsk): Ask | Refusal {
  const { operation, params, scan } = raw;
  const read = takeAll({
    said: operation.resource ? readText(scan, 'model') : readModel(scan),
    named: readSeconds(scan, 'seconds'),
    sized: readText(scan, 'size'),
    serviceTier: readTier(scan),
    file: readText(scan, 'input_reference.file_id'),
  });
  if (isRefusal(read)) return read;
  const { said, named, sized, serviceTier, file } = read;
  const model = operation.resource ? (params.model ?? '') : (said ?? '');
  const seconds = named ?? (operation.resource ? secondsIn(params.seconds) : null);
  const size = sized ?? (operation.resource ? (params.size ?? null) : null);
  const job: JobFacts = { ...(seconds === null ? {} : { seconds }), ...(size === null ? {} : { size }) };
  return {
    ...raw,
    model,
    stream: false,
    budget: null,
    choices: 1,
    serviceTier,
    weight: weigh(scan, mediaKeys, 0),
    // Files are uploaded elsewhere: one that is named by its id can be none of this workspace.
    ...(file === null ? {} : { references: [{ kind: 'file', id: file, required: true }] }),
    job,
    media: askedVideos(job, 1, operation.resource !== undefined),
  };
}
