import type { Keeper } from '#lib/core/facts/credential';
import type { ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { isTextProtocol, textProtocols } from '#lib/core/translation/conversation';

/** The protocol that a maker's own models speak best: others often lack a part of it. */
const nativeProtocols: Readonly<Record<string, FamilyId>> = {
  anthropic: 'messages',
  google: 'generate-content',
  openai: 'responses',
};

/** Who made a model, by its slug: "anthropic" of "anthropic/claude-sonnet-5". */
export function makerOf(slug: string): string {
  return slug.split('/', 1)[0] ?? slug;
}

/**
 * Whether a call may be translated at all: it asks for text, and continues nothing that a provider keeps
 * (contract: translation/when).
 */
export function isTranslatable(ask: Ask, family: FamilyId, pinned: Keeper | null): boolean {
  const { budgeted, steps } = ask.operation;
  return budgeted === true && steps === 'generate' && standsAlone(ask, family, pinned);
}

/**
 * Whether the gateway may estimate the tokens that a call asks to count: those of a request that may be translated
 * (contract: translation/counting).
 */
export function isEstimable(ask: Ask, family: FamilyId, pinned: Keeper | null): boolean {
  return ask.operation.steps === 'count' && standsAlone(ask, family, pinned);
}

/** It is of a text protocol, and needs nothing that only one provider has. */
function standsAlone({ nested }: Ask, family: FamilyId, pinned: Keeper | null): boolean {
  return pinned === null && nested === undefined && isTextProtocol(family);
}

/**
 * The protocol in which an offer is called: the client's if it speaks that, else one of those with text; null: none.
 */
export function spokenFamily({ families, modelId }: OfferFacts, client: FamilyId): FamilyId | null {
  if (families.has(client)) return client;
  if (!isTextProtocol(client)) return null;
  const native = nativeProtocols[makerOf(modelId)];
  if (native !== undefined && families.has(native)) return native;
  return textProtocols.find((one) => families.has(one)) ?? null;
}

/**
 * The protocols in which a model can be called by translation only (contract: translation/when).
 * @param native those that its offers speak. @param output what it produces: "text", "image".
 */
export function translatedProtocols(
  native: readonly string[],
  output: readonly string[],
): readonly FamilyId[] {
  if (!output.includes('text') || !textProtocols.some((one) => native.includes(one))) return [];
  return textProtocols.filter((one) => !native.includes(one));
}

/** Output tokens of a silent request whose model has no maximum in the catalogue. */
const SILENT_TOKENS = 8_192;

/**
 * The output budget that a translated request is written with, since the packages would choose one of their own: the
 * request's, else the key's maximum, else the model's (contract: translation/budget); tokens.
 */
export function translatedBudget(ask: Ask, keyMaximum: number | null, model: ModelFacts): number {
  const most = model.maxOutputTokens > 0 ? model.maxOutputTokens : SILENT_TOKENS;
  return ask.budget ?? (keyMaximum === null ? most : Math.min(keyMaximum, most));
}
