import type { Family } from '#lib/families/family';
import type { ProviderFacts } from '#lib/snapshot/snapshot';

/**
 * The header that carries the operator's credential to a provider: what its address takes, else the family's own
 * (contract: families/credentials-upstream). Pure.
 */
export function credentialHeaderOf(
  family: Pick<Family, 'id' | 'credentialHeader'>,
  { credentialHeaders }: Pick<ProviderFacts, 'credentialHeaders'>,
  secret: string,
): readonly [name: string, value: string] {
  const name = credentialHeaders.get(family.id);
  if (name === undefined) return family.credentialHeader(secret);
  return [name, name === 'authorization' ? `Bearer ${secret}` : secret];
}
