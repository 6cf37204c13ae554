import { isRefusal, type Refusal } from '#lib/core/errors';
import type { JobFacts } from '#lib/core/facts/job';
import type { Ask, RawAsk } from '#lib/core/families/family';
import { instanceFields, readReferences } from '#lib/core/families/generate-content/references';
import { readFlag, readObject, readText, takeAll } from '#lib/core/families/reading/fields';
import { askedVideos, readSamples, readSeconds } from '#lib/core/families/reading/video';
import { weigh } from '#lib/core/families/reading/weight';
import type { FieldSpec } from '#lib/core/families/scan';

/** What the gateway reads of a predictLongRunning body, in both spellings. */
export const predictFields: FieldSpec = {
  model: {},
  serviceTier: { aliases: ['service_tier'] },
  instances: { fields: instanceFields, each: instanceFields },
  parameters: {
    fields: {
      durationSeconds: { aliases: ['duration_seconds'] },
      sampleCount: { aliases: ['sample_count'] },
      resolution: {},
      generateAudio: { aliases: ['generate_audio'] },
    },
  },
};

/** Where an instance carries inline media. */
const mediaKeys: ReadonlySet<string> = new Set([
  'bytesBase64Encoded',
  'encodedVideo',
  'imageBytes',
  'videoBytes',
  'data',
]);

/** What a long-running prediction asks for: its answer is always a job (contract: jobs/jobs). */
export function readPredictAsk(raw: RawAsk): Ask | Refusal {
  const { params, scan } = raw;
  const read = takeAll({
    named: readText(scan, 'model'),
    parameters: readObject(scan, 'parameters'),
    seconds: readSeconds(scan, 'parameters.durationSeconds'),
    samples: readSamples(scan, 'parameters.sampleCount'),
    resolution: readText(scan, 'parameters.resolution'),
    sound: readFlag(scan, 'parameters.generateAudio'),
    serviceTier: readText(scan, 'serviceTier'),
    references: readReferences(scan),
  });
  if (isRefusal(read)) return read;
  const { seconds, samples, resolution, serviceTier, references } = read;
  const prompts = scan.collected.filter(({ path }) => path === 'instances[].prompt').length;
  const choices = (samples ?? 1) * Math.max(1, prompts);
  const job: JobFacts = {
    ...(seconds === null ? {} : { seconds }),
    ...(samples === null ? {} : { samples }),
    ...(resolution === null ? {} : { size: resolution.toLowerCase() }),
    ...(scan.found.get('parameters.generateAudio')?.value === false ? { sound: 'off' } : {}),
  };
  return {
    ...raw,
    model: params.model ?? '',
    stream: false,
    budget: null,
    choices,
    serviceTier,
    weight: weigh(scan, mediaKeys, 0),
    ...(references.length > 0 ? { references } : {}),
    job,
    media: askedVideos(job, choices, false),
  };
}
