import type { AbilityReaders } from '#lib/core/families/family';
import {
  hasPart,
  isGiven,
  type PartPlaces,
  readValue,
  shortText,
} from '#lib/core/families/reading/abilities';
import type { FieldSpec, Scan } from '#lib/core/families/scan';
import type { Located } from '#lib/core/families/scan/located';

/** What is read of `generationConfig` only to know what the request asks of an offer. */
export const abilityFields: FieldSpec = {
  responseSchema: { aliases: ['response_schema'] },
  responseJsonSchema: { aliases: ['response_json_schema', '_responseJsonSchema'] },
  thinkingConfig: {
    aliases: ['thinking_config'],
    fields: {
      thinkingBudget: { aliases: ['thinking_budget'] },
      thinkingLevel: { aliases: ['thinking_level'] },
      includeThoughts: { aliases: ['include_thoughts'] },
    },
  },
};

const places: PartPlaces = {
  turns: 'contents',
  parts: ['parts'],
  inner: ['functionResponse', 'function_response', 'parts'],
};
const carriers = ['inlineData', 'inline_data', 'fileData', 'file_data'];

/** Whether a part has media of a type that begins so. */
const carries = (mediaType: string) => (scan: Scan) =>
  hasPart(scan, places, [`"${mediaType}`], (part) =>
    carriers.some((name) => mediaTypeOf(part.get(name))?.startsWith(mediaType)),
  );

function mediaTypeOf(data: Located | undefined): string | null {
  return shortText(data?.get('mimeType') ?? data?.get('mime_type'));
}

const carriesImage = carries('image/');
const carriesPdf = carries('application/pdf');
const carriesAudio = carries('audio/');
const carriesVideo = carries('video/');
const config = 'generationConfig';

/** What requests to generate content ask for (contract: routing/abilities). */
export const contentAbilities: AbilityReaders = {
  tools: ({ scan }) => isGiven(scan, 'tools'),
  schemas: ({ scan }) =>
    scan.found.has(`${config}.responseSchema`) || scan.found.has(`${config}.responseJsonSchema`),
  thinking: ({ scan }) => {
    const budget = readValue(scan, `${config}.thinkingConfig.thinkingBudget`);
    const level = readValue(scan, `${config}.thinkingConfig.thinkingLevel`);
    const shown = readValue(scan, `${config}.thinkingConfig.includeThoughts`);
    return (typeof budget === 'number' && budget !== 0) || typeof level === 'string' || shown === true;
  },
  images: ({ scan, weight }) => weight.images > 0 || carriesImage(scan),
  pdf: ({ scan }) => carriesPdf(scan),
  audio: ({ scan }) => carriesAudio(scan),
  video: ({ scan }) => carriesVideo(scan),
};
