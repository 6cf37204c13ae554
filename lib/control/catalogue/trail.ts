import { isDeepStrictEqual } from 'node:util';
import type { Difference, StoredCatalogue, StoredOffer } from '#lib/control/catalogue/difference';
import { offerKey } from '#lib/control/catalogue/difference';
import { credentialKey, type StoredCredential } from '#lib/control/catalogue/pool';
import type { Price } from '#lib/core/metering/price-list';
import type { FileProvider } from '#lib/core/schemas/catalogue';
import { storePrice } from '#lib/core/schemas/price';

type Facts = Readonly<Record<string, unknown>>;

/** By entry ("model ID"), the facts that differ, before (null: it is new) and after. JSON, without secrets. */
export interface Trail {
  readonly before: Readonly<Record<string, Facts | null>>;
  readonly after: Readonly<Record<string, Facts>>;
}

/** What applying a difference changes, for the audit trail. Pure. */
export function trailOf(
  difference: Difference,
  stored: StoredCatalogue,
  withdrawn: readonly StoredOffer[],
  withdrawnCredentials: readonly StoredCredential[],
): Trail {
  const before: Record<string, Facts | null> = {};
  const after: Record<string, Facts> = {};
  const note = (entry: string, was: Facts | null, is: Facts) => {
    const differs = (facts: Facts) =>
      Object.fromEntries(Object.entries(facts).filter(([name]) => !isDeepStrictEqual(was?.[name], is[name])));
    before[entry] = was && differs(was);
    after[entry] = differs(is);
  };
  for (const provider of [...difference.newProviders, ...difference.changedProviders]) {
    const { credential, credentials: _, ...facts } = provider;
    const old = stored.providers.get(provider.id);
    const same = isDeepStrictEqual(old?.credential, credential);
    const was = old ? { ...old, credential: shown(old.credential, 'sealed') } : null;
    note(`provider ${provider.id}`, was, {
      auth: null,
      ...facts,
      credential: credential ? shown(credential, same ? 'sealed' : 'replaced') : (was?.credential ?? null),
    });
  }
  for (const { providerId, name, settings, credential } of difference.credentials) {
    const key = credentialKey(providerId, name);
    const old = stored.credentials.get(key);
    const same = isDeepStrictEqual(old?.credential, credential);
    const was = old ? { ...old.settings, credential: shownStored(old) } : null;
    note(`credential ${key}`, was, {
      ...settings,
      credential: credential ? shown(credential, same ? 'sealed' : 'replaced') : (was?.credential ?? null),
    });
  }
  for (const { providerId, name } of withdrawnCredentials) {
    const key = credentialKey(providerId, name);
    note(`credential ${key}`, { withdrawn: false }, { withdrawn: true });
  }
  for (const { offers: _, ...facts } of [...difference.newModels, ...difference.changedModels]) {
    note(`model ${facts.id}`, stored.models.get(facts.id) ?? null, facts);
  }
  for (const { modelId, providerId, facts, price } of difference.offers) {
    const key = offerKey(modelId, providerId);
    const old = stored.offers.get(key);
    const was = old ? { ...old.facts, price: priced(old.price), withdrawn: old.withdrawn } : null;
    const is = price === undefined ? (old?.price ?? null) : price;
    note(`offer ${key}`, was, { ...facts, price: priced(is), withdrawn: false });
  }
  for (const { modelId, providerId } of withdrawn) {
    note(`offer ${offerKey(modelId, providerId)}`, { withdrawn: false }, { withdrawn: true });
  }
  return { before, after };
}

/** A credential without its value. */
function shown(credential: FileProvider['credential'] | null, value: string): unknown {
  if (!credential) return null;
  return typeof credential === 'string' || 'env' in credential ? credential : value;
}

/** One that cannot be opened here is still sealed. */
function shownStored({ credential, sealed }: StoredCredential): unknown {
  return sealed ? 'sealed' : shown(credential, 'sealed');
}

function priced(price: Price | null): unknown {
  return price && storePrice(price);
}
