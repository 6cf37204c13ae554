import { isRefusal, type Refusal } from '#lib/errors';
import type { Ask, Operation } from '#lib/families/family';
import { readModel, readText } from '#lib/families/reading/fields';
import { readSeconds } from '#lib/families/reading/video';
import { weigh } from '#lib/families/reading/weight';
import type { Scan } from '#lib/families/scan';
import type { JobFacts } from '#lib/jobs/job';
import type { ResourceReference } from '#lib/resources/resource';

/** Where a body of this family carries an inline image. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'input_reference']);

/** A file of the provider's own store: as a JSON member and as a part's name. */
const filePaths = ['input_reference.file_id', 'input_reference[file_id]'];

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
  const references = readReferences(scan);
  if (isRefusal(references)) return references;
  return {
    operation,
    params,
    model,
    stream: false,
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: weigh(scan, mediaKeys, 0),
    ...(references.length > 0 ? { references } : {}),
    job: { ...(seconds === null ? {} : { seconds }), ...(size === null ? {} : { size }) } satisfies JobFacts,
    scan,
  };
}

/** Files are uploaded elsewhere, so that one named by its id can be no file of this workspace: 404. */
function readReferences(scan: Scan): readonly ResourceReference[] | Refusal {
  const references: ResourceReference[] = [];
  for (const path of filePaths) {
    const id = readText(scan, path);
    if (isRefusal(id)) return id;
    if (id !== null) references.push({ kind: 'file', id, required: true });
  }
  return references;
}
