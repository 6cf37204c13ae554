import { describe, expect, it } from 'vitest';
import { createCredentialMask } from '#lib/core/relay/credential-mask';

const credential = 'sk-live/0123+456789=ABCDEF';
const stars = '*'.repeat(credential.length);

/** What goes on of a text that comes in pieces of so many bytes. */
function masked(text: string, pieceBytes: number, secret = credential): string {
  const mask = createCredentialMask(secret);
  if (mask === null) return text;
  const bytes = Buffer.from(text);
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    out.push(...mask.push(bytes.subarray(at, at + pieceBytes)));
  return Buffer.concat([...out, ...mask.flush()]).toString();
}

describe('the credential in an answer that is not 2xx (contract: request/masked-credential)', () => {
  const sizes = [1, 2, 7, credential.length - 1, credential.length, 1_000];

  it.each(sizes)('a credential is overwritten wherever it occurs, in pieces of %i bytes', (size) => {
    const text = (secret: string) => `${secret} é {"error":"Bearer ${secret}"} sk-live ${secret}${secret}`;
    expect(masked(text(credential), size)).toBe(text(stars));
  });

  it.each(sizes)(
    'changes no other byte, also not where only its beginning occurs, in pieces of %i bytes',
    (size) => {
      const text = `sk-live/0123 ${credential.slice(0, -1)} ${credential.slice(1)} ${credential.slice(0, 20)}`;
      expect(masked(text, size)).toBe(text);
    },
  );

  it('a credential is found in its JSON, URL and base64 forms, whatever surrounds it', () => {
    expect(masked(`"${credential.replace('/', '\\/')}"`, 5)).toBe(`"${'*'.repeat(credential.length + 1)}"`);
    expect(masked(`?key=${encodeURIComponent(credential)}&a`, 5)).toMatch(/^\?key=\*+&a$/);
    for (const before of ['', 'a', 'ab', 'abc', 'Bearer ']) {
      const text = Buffer.from(`${before}${credential}:`).toString('base64');
      const shown = masked(text, 5);
      expect(shown).toHaveLength(text.length);
      expect(Buffer.from(shown.replaceAll('*', 'A'), 'base64').toString()).not.toContain(
        credential.slice(2, -2),
      );
      expect(shown).toMatch(/\*{30}/);
    }
  });

  it('bytes are held back only while they may still be the credential', () => {
    const mask = createCredentialMask(credential);
    expect(Buffer.concat(mask?.push(Buffer.from('error sk-li')) ?? []).toString()).toBe('error ');
    expect(Buffer.concat(mask?.push(Buffer.from('ly')) ?? []).toString()).toBe('sk-lily');
    expect(mask?.flush()).toHaveLength(0);
  });

  it('a credential of under 16 bytes is not masked, because it may occur in ordinary text', () => {
    expect(masked('the secret is secret', 3, 'secret')).toBe('the secret is secret');
    expect(masked('0123456789abcdef', 3, '0123456789abcdef')).toBe('*'.repeat(16));
  });
});
