import type { AbilityReaders } from '#lib/core/families/family';
import {
  hasPart,
  isGiven,
  type PartPlaces,
  readValue,
  shortText,
} from '#lib/core/families/reading/abilities';
import type { FieldSpec, Scan } from '#lib/core/families/scan';

/** What is read of a body only to know what it asks of an offer. */
export const abilityFields: FieldSpec = {
  functions: {},
  response_format: { fields: { type: {} } },
  reasoning_effort: {},
};

const places: PartPlaces = { turns: 'messages', parts: ['content'], inner: [] };
const carries = (type: string) => (scan: Scan) =>
  hasPart(scan, places, [`"${type}"`], (part) => shortText(part.get('type')) === type);
const carriesImage = carries('image_url');
const carriesFile = carries('file');
const carriesAudio = carries('input_audio');
const carriesVideo = carries('video_url');

/** What requests for chat completions ask for (contract: routing/abilities). */
export const chatAbilities: AbilityReaders = {
  tools: ({ scan }) => isGiven(scan, 'tools') || isGiven(scan, 'functions'),
  schemas: ({ scan }) => readValue(scan, 'response_format.type') === 'json_schema',
  thinking: ({ scan }) => asksEffort(readValue(scan, 'reasoning_effort')),
  images: ({ scan, weight }) => weight.images > 0 || carriesImage(scan),
  pdf: ({ scan }) => carriesFile(scan),
  audio: ({ scan }) => isGiven(scan, 'audio') || carriesAudio(scan),
  video: ({ scan }) => carriesVideo(scan),
};

/** Whether a value of the fields for effort asks for thinking. */
export function asksEffort(effort: unknown): boolean {
  return typeof effort === 'string' && effort !== 'none';
}
