import { stringify } from 'yaml';
import type { StoredCatalogue, StoredOffer } from '#lib/control/catalogue/difference';
import { filePriceOf } from '#lib/control/catalogue/file-price';
import { briefPooled, filePoolOf } from '#lib/control/catalogue/pool';
import { listPrice } from '#lib/control/catalogue/price-table';
import { type CatalogueFile, catalogueShape } from '#lib/core/schemas/catalogue';

/**
 * The stored catalogue as a file: providers by id, with their pools; by id, models with an offer in service or a
 * credential for them; prices in force; no credential by value (contract: operations/catalogue-export). Pure.
 * @throws ZodError if the database has what no file could bring.
 */
export function exportCatalogue({ providers, credentials, models, offers }: StoredCatalogue): CatalogueFile {
  const inService = [...offers.values()].filter(({ withdrawn }) => !withdrawn);
  // Without its models, a credential that may serve only some would be one for all.
  const named = new Set([...credentials.values()].flatMap(({ settings }) => settings.models ?? []));
  return catalogueShape.parse({
    providers: [...providers.values()].sort(byId).map(({ sealed, acceptNewModels, ...provider }) => ({
      ...given({ ...provider, credential: sealed ? null : provider.credential }),
      credentials: filePoolOf(provider.id, credentials),
      ...(acceptNewModels && { acceptNewModels }),
    })),
    models: [...models.values()].sort(byId).flatMap((model) => {
      const own = inService.filter(({ modelId }) => modelId === model.id).sort(byPosition);
      return own.length > 0 || named.has(model.id) ? [{ ...model, offers: own.map(fileOfferOf) }] : [];
    }),
  });
}

/** Without what every file has by default. Pure. */
export function catalogueYaml({ providers, models }: CatalogueFile): string {
  return stringify(
    {
      providers: providers.map(({ credentials, credentialHeaders, variants, stores, ...provider }) => ({
        ...provider,
        ...(credentials && { credentials: credentials.map(briefPooled) }),
        ...(Object.keys(credentialHeaders).length > 0 && { credentialHeaders }),
        ...(Object.keys(variants).length > 0 && { variants }),
        ...(stores.length > 0 && { stores }),
      })),
      models: models.map(({ aliases, abilities, offers, ...model }) => ({
        ...model,
        ...(aliases.length > 0 && { aliases }),
        ...(Object.keys(abilities).length > 0 && { abilities }),
        offers: offers.map(({ denyBetas, abilities: own, operations, ...offer }) => ({
          ...offer,
          ...(denyBetas.length > 0 && { denyBetas }),
          ...(Object.keys(own).length > 0 && { abilities: own }),
          ...(operations.length > 0 && { operations }),
        })),
      })),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

/** Without what is not set. */
function given(facts: object): object {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}

function byPosition(one: StoredOffer, other: StoredOffer): number {
  return one.facts.position - other.facts.position || (one.providerId < other.providerId ? -1 : 1);
}

/** An offer as its catalogue file would write it. Pure. */
export function fileOfferOf({ providerId, facts, price }: StoredOffer): object {
  const { position: _, ...set } = facts;
  return {
    provider: providerId,
    ...given(set),
    ...(price && { price: filePriceOf(listPrice(price)) }),
  };
}
