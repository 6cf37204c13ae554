import { asksEffort } from '#lib/core/families/chat/abilities';
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
  text: { fields: { format: { fields: { type: {} } } } },
  reasoning: { fields: { effort: {} } },
};

const places: PartPlaces = { turns: 'input', parts: ['content', 'output'], inner: [] };
const carries = (type: string) => (scan: Scan) =>
  hasPart(scan, places, [`"${type}"`], (part) => shortText(part.get('type')) === type);
const carriesImage = carries('input_image');
const carriesFile = carries('input_file');
const carriesAudio = carries('input_audio');

/** What requests for responses ask for (contract: routing/abilities). */
export const responsesAbilities: AbilityReaders = {
  tools: ({ scan }) => isGiven(scan, 'tools'),
  schemas: ({ scan }) => readValue(scan, 'text.format.type') === 'json_schema',
  thinking: ({ scan }) => asksEffort(readValue(scan, 'reasoning.effort')),
  images: ({ scan, weight }) => weight.images > 0 || carriesImage(scan),
  pdf: ({ scan }) => carriesFile(scan),
  audio: ({ scan }) => carriesAudio(scan),
};
