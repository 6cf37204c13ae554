import type { ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { estimateInput } from '#lib/core/metering/estimate-input';
import type { OfferNeeds } from '#lib/gateway/routing/pure/exclude';
import { spokenFamily } from '#lib/gateway/routing/pure/translate';

/** Why a fallback model is left out as a whole (contract: routing/fallback-models). */
export type WhyModel = 'unknown' | 'scope' | 'family' | 'context' | 'budget' | 'image' | 'sound' | 'file';

/** What a request needs of every model that it may fall back to. */
interface FallbackNeeds {
  readonly ask: Ask;
  readonly wanted: Pick<OfferNeeds, 'family' | 'translates'>;
  /** Models of the key; null: all. */
  readonly scope: ReadonlySet<string> | null;
}

/**
 * Whether a fallback model can take the request: in the key's scope, offered in the family, large enough
 * for input and budget, and able to read what the request carries.
 * @returns null when it can.
 */
export function misfit(
  slug: string,
  model: ModelFacts | undefined,
  { ask, wanted, scope }: FallbackNeeds,
): WhyModel | null {
  if (!model) return 'unknown';
  if (scope !== null && !scope.has(slug)) return 'scope';
  if (!model.offers.some((offer) => speaks(offer, wanted))) return 'family';
  // A catalogue that gives no size (0) sets no bound; of a model of videos or pictures, it is only
  // that of the prompt, and what else the request carries is not part of it. A recording is read in pieces.
  if (ask.audio === undefined && model.contextTokens > 0 && model.output.includes('text')) {
    if (estimateInput(ask.weight) + (ask.budget ?? 0) > model.contextTokens) return 'context';
  }
  if (model.maxOutputTokens > 0 && (ask.budget ?? 0) > model.maxOutputTokens) return 'budget';
  return lackingInput(model, ask);
}

function speaks(offer: OfferFacts, { family, translates }: FallbackNeeds['wanted']): boolean {
  return translates ? spokenFamily(offer, family) !== null : offer.families.has(family);
}

/** The code in words, for `route explain`. */
export function describeModel(why: WhyModel, family: FamilyId, model: ModelFacts | undefined): string {
  switch (why) {
    case 'unknown':
      return 'not in the catalogue';
    case 'scope':
      return 'not in the scope of the key';
    case 'family':
      return `no offer supports the ${family} family`;
    case 'context':
      return `too small for the request: its context is ${model?.contextTokens} tokens`;
    case 'budget':
      return `too small for the request: it makes at most ${model?.maxOutputTokens} output tokens`;
    case 'image':
      return 'lacks a capability: it cannot read images';
    case 'sound':
      return 'lacks a capability: it cannot read audio or video';
    case 'file':
      return 'lacks a capability: it cannot read files';
  }
}

/** `"type"` values by which the families' bodies reference media, inline or by address. */
const imageMarks = ['"image_url"', '"input_image"', '"image"'];
const soundMarks = ['"input_audio"', '"audio_url"', '"video_url"'];
const fileMarks = ['"input_file"', '"file"', '"document"'];

/** What the request carries that the model cannot read. Only asked of models that do lack something. */
function lackingInput(model: ModelFacts, ask: Ask): WhyModel | null {
  const reads = (...kinds: string[]) => kinds.some((kind) => model.input.includes(kind));
  const { images, audioVideoBytes, fileBytes } = ask.weight;
  if (!reads('image') && (images > 0 || carries(ask, imageMarks, 'image/'))) return 'image';
  if (!reads('audio', 'video') && (audioVideoBytes > 0 || carries(ask, soundMarks, 'audio/'))) return 'sound';
  return !reads('pdf', 'file') && (fileBytes > 0 || carries(ask, fileMarks, 'application/pdf'))
    ? 'file'
    : null;
}

/** Whether a part of the body has one of these types, or names a media type (generate-content). */
function carries(ask: Ask, marks: readonly string[], mediaType: string): boolean {
  const { body } = ask.scan;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const typed = marks.some((mark) => standsUnder(bytes, mark, /"type"\s*:\s*$/));
  return typed || standsUnder(bytes, `"${mediaType}`, /"(?:mimeType|mime_type|media_type)"\s*:\s*$/);
}

/** The search stops after this many occurrences, because a longer one would delay all calls. */
const MOST_LOOKS = 1_000;

/** Whether `text` occurs as the value of such a key. Quotes inside strings are escaped, so never match. */
function standsUnder(bytes: Buffer, text: string, key: RegExp): boolean {
  let looks = 0;
  for (let at = bytes.indexOf(text); at >= 0 && looks < MOST_LOOKS; at = bytes.indexOf(text, at + 1)) {
    if (key.test(bytes.toString('latin1', Math.max(0, at - 40), at))) return true;
    looks++;
  }
  return false;
}
