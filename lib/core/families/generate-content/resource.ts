import type { OfferFacts } from '#lib/core/facts/snapshot';

/** The offer's model as this family names resources: "models/x"; a name that already is one stays. */
export function resourceName({ upstreamModel }: Pick<OfferFacts, 'upstreamModel'>): string {
  return /^(models|tunedModels)\//.test(upstreamModel) ? upstreamModel : `models/${upstreamModel}`;
}

/** The same as a path after the versioned root; its slashes stay, everything that would end it is escaped. */
export function resourcePath(name: string): string {
  return `/${name.split('/').map(encodeURIComponent).join('/')}`;
}
