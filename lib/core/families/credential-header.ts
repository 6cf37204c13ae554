import type { CredentialFacts } from '#lib/core/facts/credential';
import type { ProviderFacts } from '#lib/core/facts/snapshot';
import type { Family } from '#lib/core/families/family';

/**
 * The header that carries the operator's credential to a provider: what its address takes, else the family's own
 * (contract: families/credentials-upstream). Pure. @returns null: the request is signed instead.
 */
export function credentialHeaderOf(
  family: Pick<Family, 'id' | 'credentialHeader'>,
  { credentialHeaders }: Pick<ProviderFacts, 'credentialHeaders'>,
  { secret, bearer, cloud }: Pick<CredentialFacts, 'secret' | 'bearer' | 'cloud'>,
): readonly [name: string, value: string] | null {
  // Nothing of a cloud's credential is sent as it is: the request is signed with it.
  if (cloud !== undefined) return null;
  if (bearer === true) return ['authorization', `Bearer ${secret}`];
  const name = credentialHeaders.get(family.id) ?? family.credentialHeader;
  return [name, name === 'authorization' ? `Bearer ${secret}` : secret];
}
