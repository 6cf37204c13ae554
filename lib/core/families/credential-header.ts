import type { ProviderFacts } from '#lib/core/facts/snapshot';
import type { Family } from '#lib/core/families/family';

/**
 * The header that carries the operator's credential to a provider: what its address takes, else the family's own
 * (contract: families/credentials-upstream). Pure.
 */
export function credentialHeaderOf(
  family: Pick<Family, 'id' | 'credentialHeader'>,
  { credentialHeaders }: Pick<ProviderFacts, 'credentialHeaders'>,
  secret: string,
): readonly [name: string, value: string] {
  const name = credentialHeaders.get(family.id) ?? family.credentialHeader;
  return [name, name === 'authorization' ? `Bearer ${secret}` : secret];
}
