import { offerKey, type StoredCatalogue, type StoredOffer } from '#lib/control/catalogue/difference';
import { fileOfferOf } from '#lib/control/catalogue/export';
import { type CatalogueSet, joinCatalogues } from '#lib/control/catalogue/files';
import type { Proposal } from '#lib/control/price-tables/pure/propose';
import {
  type CatalogueFile,
  catalogueShape,
  type FileModel,
  type FileOffer,
} from '#lib/core/schemas/catalogue';

/** What accepting proposals writes: models and offers as a catalogue file would have them, and offers to withdraw. */
export interface Accepted {
  readonly set: CatalogueSet;
  readonly withdrawn: readonly StoredOffer[];
}

/**
 * Two of the proposals that cannot both be accepted, such as the prices of two tables for one offer; null: all can. Pure.
 */
export function contradiction(proposals: readonly Proposal[]): readonly [Proposal, Proposal] | null {
  const ends = (one: Proposal) => one.kind === 'retirement' || one.kind === 'withdrawal';
  const clash = (one: Proposal, other: Proposal) =>
    one.model === other.model &&
    one.provider === other.provider &&
    (one.kind === other.kind ? one.kind !== 'alias' : ends(one) && ends(other));
  for (const [at, one] of proposals.entries()) {
    const other = proposals.slice(at + 1).find((two) => clash(one, two));
    if (other) return [one, other];
  }
  return null;
}

/**
 * The models and offers that proposals change, with everything else as it is. Pure.
 * @param proposals of this catalogue, none of which contradicts another.
 * @throws FileRefused, ZodError if a file could not say it.
 */
export function acceptedFile(stored: StoredCatalogue, proposals: readonly Proposal[]): Accepted {
  const models = new Map<string, FileModel>();
  const withdrawn: StoredOffer[] = [];
  const modelOf = (id: string): FileModel => {
    const known = models.get(id);
    if (known) return known;
    const model = stored.models.get(id);
    if (model === undefined) throw new Error(`there is no model ${id}`);
    return { ...model, offers: [] };
  };
  const putOffer = (id: string, provider: string, change: (offer: FileOffer) => FileOffer) => {
    const model = modelOf(id);
    const own =
      model.offers.find((offer) => offer.provider === provider) ?? storedOffer(stored, id, provider);
    const others = model.offers.filter((offer) => offer.provider !== provider);
    models.set(id, { ...model, offers: [...others, change(own)] });
  };
  for (const { model: id, provider, accept } of proposals) {
    if ('price' in accept) putOffer(id, provider, (offer) => ({ ...offer, price: accept.price }));
    else if ('retires' in accept) putOffer(id, provider, (offer) => ({ ...offer, retires: accept.retires }));
    else if ('alias' in accept) {
      const [from, to] = [modelOf(id), modelOf(accept.to)];
      models.set(id, { ...from, aliases: from.aliases.filter((alias) => alias !== accept.alias) });
      models.set(accept.to, { ...to, aliases: [...to.aliases, accept.alias] });
    } else if ('model' in accept) {
      const known = models.get(id) ?? (stored.models.has(id) ? modelOf(id) : null);
      models.set(id, known ? { ...known, offers: [...known.offers, ...accept.model.offers] } : accept.model);
    } else {
      const offer = stored.offers.get(offerKey(id, provider));
      if (offer) withdrawn.push(offer);
    }
  }
  const value: CatalogueFile = catalogueShape.parse({ models: [...models.values()] });
  return { set: joinCatalogues([{ file: 'proposals', value, lineOf: () => 1 }]), withdrawn };
}

function storedOffer(stored: StoredCatalogue, modelId: string, provider: string): FileOffer {
  const offer = stored.offers.get(offerKey(modelId, provider));
  if (offer === undefined) throw new Error(`there is no offer of ${modelId} at ${provider}`);
  const [read] = catalogueShape.parse({
    models: [{ ...stored.models.get(modelId), offers: [fileOfferOf(offer)] }],
  }).models;
  const [own] = read?.offers ?? [];
  if (own === undefined) throw new Error(`the offer of ${modelId} at ${provider} cannot be read`);
  return own;
}
