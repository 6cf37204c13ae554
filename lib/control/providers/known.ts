import { filePriceOf } from '#lib/control/catalogue/file-price';
import { listPrice } from '#lib/control/catalogue/price-table';
import type { ListedEntry } from '#lib/control/providers/model-list';
import type { Catalogue, ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import { LONGEST_SLUG } from '#lib/core/schemas/catalogue';
import type { FilePrice } from '#lib/core/schemas/price';
import { simulatedProvider } from '#lib/core/simulated';

/** What the catalogue knows of a model in a provider's list. */
export interface Known {
  /** The slug under which the provider offers it already; null: it does not. */
  readonly offered: string | null;
  /** The catalogue's model with that name; null: none has it, or several. */
  readonly model: ModelFacts | null;
  /** A price of that model; null: none is known. */
  readonly price: { readonly provider: string; readonly price: FilePrice } | null;
}

/** Finds models of the catalogue by the names that a provider gives them. */
export class KnownModels {
  readonly #own = new Map<string, string>();
  /** By lower-case name; null: more than one model has it. */
  readonly #byName = new Map<string, ModelFacts | null>();
  readonly #providerId: string;

  /** @param providerId the provider whose list is read. */
  constructor({ models }: Catalogue, providerId: string) {
    this.#providerId = providerId;
    for (const model of models.values()) {
      const offers = model.offers.filter(({ provider }) => provider.id !== simulatedProvider);
      if (offers.length === 0) continue;
      for (const { provider, upstreamModel } of offers)
        if (provider.id === providerId) this.#own.set(upstreamModel, model.id);
      const names = [model.id, ...model.aliases, ...offers.map(({ upstreamModel }) => upstreamModel)];
      for (const name of new Set(names.flatMap((one) => [one, baseOf(one)]).map(plain))) {
        const other = this.#byName.get(name);
        this.#byName.set(name, other === undefined || other === model ? model : null);
      }
    }
  }

  of({ upstreamModel, knownAs = [] }: ListedEntry): Known {
    const names = [upstreamModel, ...knownAs].map(plain).flatMap((name) => [name, baseOf(name)]);
    const model = names.map((name) => this.#byName.get(name)).find((one) => one) ?? null;
    return {
      offered: this.#own.get(upstreamModel) ?? null,
      model,
      price: model && this.#priceOf(model, upstreamModel),
    };
  }

  /** The provider's own price, one of the same name elsewhere, or the first. */
  #priceOf({ offers }: ModelFacts, upstreamModel: string): Known['price'] {
    const priced = offers.filter(({ price, provider }) => price && provider.id !== simulatedProvider);
    const found =
      priced.find(({ provider }) => provider.id === this.#providerId) ??
      priced.find((offer) => offer.upstreamModel === upstreamModel) ??
      priced[0];
    return found ? pricedBy(found) : null;
  }
}

function pricedBy({ provider, price }: OfferFacts): Known['price'] {
  if (price === null) return null;
  // The schema of catalogue files has checked it.
  return { provider: provider.id, price: filePriceOf(listPrice(price.price)) as FilePrice };
}

/** "accounts/acme/models/Large:latest" → "Large:latest". */
function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Ollama calls the usual variant of a model "latest". */
function plain(name: string): string {
  return name.toLowerCase().replace(/:latest$/, '');
}

/**
 * A slug for a model that the catalogue does not know: "ollama/llama3.2". Pure.
 * @param taken whether a slug means another model already.
 */
export function slugFor(providerId: string, upstreamModel: string, taken: (slug: string) => boolean): string {
  const parts = upstreamModel
    .replace(/:latest$/, '')
    .split('/')
    .map((part) => part.replace(/[^A-Za-z0-9._:-]+/g, '-').replace(/^\.{1,2}$/, ''))
    .filter(Boolean);
  const slug = [providerId, ...(parts.length > 0 ? parts : ['model'])].join('/');
  const room = LONGEST_SLUG - 5;
  const short = slug
    .slice(0, room)
    .replace(/\/+$/, '')
    .replace(/\/\.{1,2}$/, '');
  for (let count = 1; ; count += 1) {
    const tried = count === 1 ? short : `${short}-${count}`;
    if (!taken(tried)) return tried;
  }
}
