import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** A key of 32 bytes that seals secrets for storage; or several, of which the first one seals and any opens. */
export type SealingKey = Uint8Array | readonly Uint8Array[];

/**
 * ENCRYPTION_KEY as bytes.
 * @param text 32 bytes as 64 hex digits or as base64.
 * @throws RangeError for any other length; the message does not quote the text.
 */
export function readSealingKey(text: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length !== 32) {
    throw new RangeError('an encryption key is 32 bytes, written as 64 hex digits or as base64');
  }
  return bytes;
}

/**
 * What a sealed credential is bound to, for sealing and opening: its provider, and its name in the provider's pool.
 * @param name "default": the one that the provider's own row has.
 */
export function credentialContext(providerId: string, name = 'default'): string {
  return `provider-credential:${providerId}${name === 'default' ? '' : `/${name}`}`;
}

/** What a workspace's own key is bound to: its workspace and its row. */
export function ownKeyContext(workspaceId: string, id: string): string {
  return `own-key:${workspaceId}/${id}`;
}

/** The keys of the process: ENCRYPTION_KEY, then those that only open what was sealed before. */
export function sealingKeysOf(env: {
  readonly encryptionKey: string;
  readonly oldEncryptionKeys: readonly string[];
}): readonly Uint8Array[] {
  return [env.encryptionKey, ...env.oldEncryptionKeys].map(readSealingKey);
}

/**
 * Prints of the keys, so that processes can compare their keys; a print reveals nothing about its key.
 * @returns 16 hex digits each.
 */
export function keyPrints(key: SealingKey): string[] {
  return keysOf(key).map((one) =>
    createHmac('sha256', one).update('print of an encryption key').digest('hex').slice(0, 16),
  );
}

/** The same keys with another one first, which then seals. @param at its place. */
export function sealingWith(key: SealingKey, at: number): SealingKey {
  const keys = keysOf(key);
  return [...keys.slice(at, at + 1), ...keys.slice(0, at), ...keys.slice(at + 1)];
}

/**
 * Encrypts a secret for storage: AES-256-GCM, 12 random bytes of nonce, bound to `context`.
 * @throws RangeError when there is no key.
 * @returns "s1." + base64url of nonce, ciphertext and tag.
 */
export function seal(plain: string, key: SealingKey, context: string): string {
  return `s1.${sealBytes(Buffer.from(plain), key, context).toString('base64url')}`;
}

/** The same for bytes. @throws RangeError when there is no key. @returns nonce, ciphertext and tag. */
export function sealBytes(plain: Uint8Array, key: SealingKey, context: string): Buffer<ArrayBuffer> {
  const nonce = randomBytes(12);
  const [current] = keysOf(key);
  if (current === undefined) throw new RangeError('there is no key to seal a secret with');
  const cipher = createCipheriv('aes-256-gcm', imported(current), nonce);
  cipher.setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Reads what `seal` wrote under one of the keys and the same context.
 * @throws Error when it was altered, moved to another context or sealed under another key.
 */
export function open(sealed: string, key: SealingKey, context: string): string {
  return openWith(sealed, key, context).plain;
}

/** The same, and whether the first key sealed it: a secret sealed by an older key must be sealed again. */
export function openWith(
  sealed: string,
  key: SealingKey,
  context: string,
): { readonly plain: string; readonly current: boolean } {
  const body = Buffer.from(sealed.startsWith('s1.') ? sealed.slice(3) : '', 'base64url');
  if (body.length < 28) throw new Error('this value is not a sealed secret; store the secret again');
  const { plain, current } = openBytes(body, key, context);
  return { plain: plain.toString('utf8'), current };
}

/** Reads what `sealBytes` wrote. @throws Error as `open`. */
export function openBytes(
  sealed: Uint8Array,
  key: SealingKey,
  context: string,
): { readonly plain: Buffer; readonly current: boolean } {
  for (const [at, one] of keysOf(key).entries()) {
    const plain = decrypted(Buffer.from(sealed), one, context);
    if (plain !== null) return { plain, current: at === 0 };
  }
  throw new Error(
    'a sealed secret cannot be decrypted: the encryption key has changed, or the row was altered',
  );
}

/** null: it was sealed under another key or context, or altered. */
function decrypted(body: Buffer, key: Uint8Array, context: string): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', imported(key), body.subarray(0, 12), {
    authTagLength: 16,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(body.subarray(-16));
  try {
    return Buffer.concat([decipher.update(body.subarray(12, -16)), decipher.final()]);
  } catch {
    return null;
  }
}

/** Importing a key takes ten times as long as sealing a short text. */
const importedKeys = new WeakMap<Uint8Array, KeyObject>();
function imported(key: Uint8Array): KeyObject {
  const known = importedKeys.get(key) ?? createSecretKey(key);
  importedKeys.set(key, known);
  return known;
}

/** Each of the keys, the one that seals first. */
export function keysOf(key: SealingKey): readonly Uint8Array[] {
  return key instanceof Uint8Array ? [key] : key;
}
