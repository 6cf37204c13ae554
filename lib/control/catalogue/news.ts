import { type Difference, offerKey } from '#lib/control/catalogue/difference';
import { credentialKey } from '#lib/control/catalogue/pool';

/** Names of entries, as the lines of a difference have them. */
export const modelEntry = (id: string) => `model ${id}`;
export const offerEntry = (modelId: string, providerId: string) => `offer ${offerKey(modelId, providerId)}`;

/**
 * The part of a difference that may be written automatically: what is new, and what has changed in the files.
 * @param changed whether an entry differs from what was applied last.
 */
export function onlyNews(difference: Difference, changed: (entry: string) => boolean): Difference {
  const models = difference.changedModels.filter((model) => changed(modelEntry(model.id)));
  const offers = difference.offers.filter(
    (offer) =>
      offer.id === null || (!offer.withdrawn && changed(offerEntry(offer.modelId, offer.providerId))),
  );
  const news = new Set(difference.newProviders.map(({ id }) => id));
  const credentials = difference.credentials.filter(({ providerId }) => news.has(providerId));
  const entries = new Set([
    ...[...news].map((id) => `provider ${id}`),
    ...credentials.map(({ providerId, name }) => `credential ${credentialKey(providerId, name)}`),
    ...[...difference.newModels, ...models].map((model) => modelEntry(model.id)),
    ...offers.map((offer) => offerEntry(offer.modelId, offer.providerId)),
  ]);
  const lines = difference.lines.filter((line) => entries.has(line.entry));
  return { ...difference, changedProviders: [], credentials, changedModels: models, offers, lines };
}
