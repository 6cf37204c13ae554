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
  thinking: { fields: { type: {} } },
  output_config: { fields: { format: { fields: { type: {} } } } },
  output_format: { fields: { type: {} } },
};

/** Results of tools have parts of their own. */
const places: PartPlaces = { turns: 'messages', parts: ['content'], inner: ['content'] };

function carriesImage(scan: Scan): boolean {
  return hasPart(scan, places, ['"image"'], (part) => shortText(part.get('type')) === 'image');
}

/** Documents of text are text. */
function carriesPdf(scan: Scan): boolean {
  return hasPart(scan, places, ['"document"'], (part) => {
    if (shortText(part.get('type')) !== 'document') return false;
    const kind = shortText(part.get('source')?.get('type'));
    return kind !== 'text' && kind !== 'content';
  });
}

/** What messages ask for (contract: routing/abilities). */
export const messagesAbilities: AbilityReaders = {
  tools: ({ scan }) => isGiven(scan, 'tools'),
  schemas: ({ scan }) =>
    readValue(scan, 'output_config.format.type') === 'json_schema' ||
    readValue(scan, 'output_format.type') === 'json_schema',
  thinking: ({ scan }) => {
    const type = readValue(scan, 'thinking.type');
    return typeof type === 'string' && type !== 'disabled';
  },
  images: ({ scan, weight }) => weight.images > 0 || carriesImage(scan),
  pdf: ({ scan }) => carriesPdf(scan),
};
