import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';

/** What providers sign or encrypt, as the packages name it in the metadata of a part. */
const signedNames = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature'];

/** Whether metadata has anything that the provider wants back (docs/decisions/translation.md). */
export function isSigned(metadata: SharedV4ProviderMetadata | undefined): boolean {
  return Object.values(metadata ?? {}).some((entries) =>
    signedNames.some((name) => (entries[name] ?? null) !== null),
  );
}

/** Metadata that comes in pieces: later values replace earlier ones, except by null. */
export function mergeMetadata(
  earlier: SharedV4ProviderMetadata,
  later: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata {
  const merged = { ...earlier };
  for (const [provider, entries] of Object.entries(later ?? {})) {
    const told = Object.entries(entries).filter(([, value]) => value !== null && value !== undefined);
    merged[provider] = { ...merged[provider], ...Object.fromEntries(told) };
  }
  return merged;
}
