import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { generateContent } from '#lib/core/families/generate-content';
import { messages } from '#lib/core/families/messages';

const headers = (
  ...named: [Parameters<typeof credentialHeaderOf>[0]['id'], 'authorization' | 'api-key'][]
) => ({
  credentialHeaders: new Map(named),
});

describe('the header of the operator’s credential (contract: families/credentials-upstream)', () => {
  it('the credential is sent in the family’s own header', () => {
    const none = headers();
    expect(credentialHeaderOf(chat, none, { secret: 's' })).toEqual(['authorization', 'Bearer s']);
    expect(credentialHeaderOf(messages, none, { secret: 's' })).toEqual(['x-api-key', 's']);
    expect(credentialHeaderOf(generateContent, none, { secret: 's' })).toEqual(['x-goog-api-key', 's']);
  });

  it('the credential is sent in the header that the provider’s address of that family takes', () => {
    const own = headers(['messages', 'authorization'], ['chat', 'api-key']);
    expect(credentialHeaderOf(messages, own, { secret: 's' })).toEqual(['authorization', 'Bearer s']);
    expect(credentialHeaderOf(chat, own, { secret: 's' })).toEqual(['api-key', 's']);
    expect(credentialHeaderOf(generateContent, own, { secret: 's' })).toEqual(['x-goog-api-key', 's']);
  });

  it('the token of a cloud is a bearer token everywhere, and keys that sign are in no header', () => {
    const own = headers(['chat', 'api-key']);
    expect(credentialHeaderOf(chat, own, { secret: 't', bearer: true })).toEqual([
      'authorization',
      'Bearer t',
    ]);
    expect(credentialHeaderOf(messages, own, { secret: 't', bearer: true })).toEqual([
      'authorization',
      'Bearer t',
    ]);
    expect(
      credentialHeaderOf(chat, own, { secret: 's', cloud: { kind: 'aws-sigv4', key: null } }),
    ).toBeNull();
  });
});
