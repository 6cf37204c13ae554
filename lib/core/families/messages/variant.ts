import type { OfferFacts } from '#lib/core/facts/snapshot';
import {
  insertMember,
  modelEdits,
  removeMembers,
  renameMember,
  replaceValue,
  setRootField,
} from '#lib/core/families/edits';
import type { Ask, Edit } from '#lib/core/families/family';

type Variant = 'vertex' | 'bedrock';

const versions: Readonly<Record<Variant, string>> = {
  vertex: 'vertex-2023-10-16',
  bedrock: 'bedrock-2023-05-31',
};

/** The form in which an offer's address takes messages (contract: families/variants); null: the family's own. */
export function variantOf({ provider }: Pick<OfferFacts, 'provider'>): Variant | null {
  return provider.variants?.messages ?? null;
}

/** The path of an operation in that form, after the root; null: the family's own. */
export function variantPath({ operation, stream }: Ask, offer: OfferFacts): string | null {
  const variant = variantOf(offer);
  if (variant === null) return null;
  const counts = operation.steps === 'count';
  const model = encodeURIComponent(offer.upstreamModel);
  if (variant === 'bedrock') {
    const action = stream ? 'invoke-with-response-stream' : 'invoke';
    return `/model/${model}/${counts ? 'count-tokens' : action}`;
  }
  if (counts) return '/models/count-tokens:rawPredict';
  return `/models/${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
}

/**
 * The body in that form: its model is in the path and its version in the body; at Bedrock, the path also says whether
 * to stream, and the betas are in the body.
 * @param budget as injected, tokens; null: none.
 * @param betas the client's header `anthropic-beta`, without those that stay here.
 */
export function variantEdits(
  { scan, operation }: Ask,
  offer: OfferFacts,
  {
    variant,
    budget,
    betas,
  }: { readonly variant: Variant; readonly budget: number | null; readonly betas: string },
): readonly Edit[] {
  const counts = operation.steps === 'count';
  const version = JSON.stringify(versions[variant]);
  const given = scan.found.get('anthropic_version');
  const model = scan.found.get('model');
  const stream = scan.found.get('stream') ?? scan.nulls.get('stream');
  const edits: Edit[] = [];
  const removed = variant === 'bedrock' && stream ? [stream] : [];
  if (counts && variant === 'vertex') {
    // The path of a count is the same for all models.
    edits.push(...modelEdits(scan, offer.upstreamModel));
    edits.push(given ? replaceValue(given, version) : insertMember(scan.root, 'anthropic_version', version));
  } else if (given || !model) {
    if (model) removed.push(model);
    edits.push(given ? replaceValue(given, version) : insertMember(scan.root, 'anthropic_version', version));
  } else edits.push(renameMember(scan, model, 'anthropic_version'), replaceValue(model, version));
  if (budget !== null) edits.push(setRootField(scan, 'max_tokens', String(budget)));
  if (counts && variant === 'bedrock') edits.push(setRootField(scan, 'max_tokens', '1'));
  if (variant === 'bedrock' && betas !== '' && !scan.found.has('anthropic_beta')) {
    const list = betas.split(',').map((beta) => beta.trim());
    edits.push(insertMember(scan.root, 'anthropic_beta', JSON.stringify(list.filter(Boolean))));
  }
  return [...edits, ...removeMembers(scan, removed)];
}

/** Headers that such an address does not take, because the path or the body says the same. */
export function isVariantHeader(variant: Variant, name: string): boolean {
  if (name === 'anthropic-version') return true;
  return variant === 'bedrock' && (name === 'anthropic-beta' || name === 'accept');
}
