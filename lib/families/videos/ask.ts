import { isRefusal, type Refusal } from '#lib/errors';
import type { Ask, Operation } from '#lib/families/family';
import { readModel, readText } from '#lib/families/reading/fields';
import { readSeconds } from '#lib/families/reading/video';
import { weigh } from '#lib/families/reading/weight';
import type { Scan } from '#lib/families/scan';
import type { JobFacts } from '#lib/jobs/job';

/** Where a body of this family carries an inline image. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'input_reference']);

/**
 * What a create call or a remix asks for; its answer is always a job (decisions §11). A remix inherits
 * model, length and size: the pipeline names the model in `params`.
 */
export function readVideosAsk(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  scan: Scan,
): Ask | Refusal {
  const model = operation.resource ? (params.model ?? '') : readModel(scan);
  if (isRefusal(model)) return model;
  const seconds = readSeconds(scan, 'seconds');
  if (isRefusal(seconds)) return seconds;
  const size = readText(scan, 'size');
  if (isRefusal(size)) return size;
  const file = readText(scan, 'input_reference.file_id');
  if (isRefusal(file)) return file;
  return {
    operation,
    params,
    model,
    stream: false,
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: weigh(scan, mediaKeys, 0),
    // Files are uploaded elsewhere: one that is named by its id can be none of this workspace.
    ...(file === null ? {} : { references: [{ kind: 'file', id: file, required: true }] }),
    job: { ...(seconds === null ? {} : { seconds }), ...(size === null ? {} : { size }) } satisfies JobFacts,
    scan,
  };
}
