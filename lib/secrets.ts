import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes as cryptoRandomBytes,
  hash,
} from 'node:crypto';
import { crc32 } from 'node:zlib';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'mg_';
const shape = /^mg_[0-9A-Za-z]{49}$/;
const bodyLength = prefix.length + 43;
const managementPrefix = 'mgk_';
const managementShape = /^mgk_[0-9A-Za-z]{49}$/;

/** `value` in base 62, padded on the left to `length` digits. */
function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = digits.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** Plain numbers: this runs once a request. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = digits.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/**
 * A new API key: `mg_`, 256 random bits as 43 base62 digits, 6 base62 digits of CRC-32 over all that
 * stands before (contract: authentication/key-format).
 * @param randomBytes source of randomness: gives that many bytes.
 */
export function makeKey(randomBytes: (count: number) => Uint8Array = cryptoRandomBytes): string {
  return withChecksum(prefix, randomBytes);
}

/** A new key of the management API: `mgk_`, the rest as in an API key (contract: control-plane/management-keys). */
export function makeManagementKey(): string {
  return withChecksum(managementPrefix, cryptoRandomBytes);
}

function withChecksum(start: string, randomBytes: (count: number) => Uint8Array): string {
  const body = start + base62(BigInt(`0x${Buffer.from(randomBytes(32)).toString('hex')}`), 43);
  return body + checksum(body);
}

/**
 * Whether a text can be a key at all: a malformed one is refused without a look-up
 * (contract: authentication/malformed).
 */
export function isWellFormedKey(text: string): boolean {
  return shape.test(text) && text.slice(bodyLength) === checksum(text.slice(0, bodyLength));
}

/** Whether a text can be a management key at all; an API key never is one. */
export function isWellFormedManagementKey(text: string): boolean {
  const body = managementPrefix.length + 43;
  return managementShape.test(text) && text.slice(body) === checksum(text.slice(0, body));
}

/**
 * The name of a secret in this process's memory. Not stored anywhere: there a secret of 256 random bits
 * needs no pepper, and the one-shot digest takes a third of the HMAC's time on the path of every call.
 */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64');
}

/**
 * What is stored of a key: HMAC-SHA-256 under the server's pepper, 32 bytes (contract: authentication/key-at-rest).
 */
export function hashKey(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest();
}

/** What may be shown of a key: its first 7 and last 4 characters (contract: authentication/key-at-rest). */
export function displayOf(secret: string): { start: string; end: string } {
  return { start: secret.slice(0, 7), end: secret.slice(-4) };
}

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

/** What a provider's sealed credential is bound to; the same on sealing and on opening. */
export function credentialContext(providerId: string): string {
  return `provider-credential:${providerId}`;
}

/**
 * Encrypts a secret for storage: AES-256-GCM, 12 random bytes of nonce, bound to `context`.
 * @param key 32 bytes.
 * @returns "s1." + base64url of nonce, ciphertext and tag.
 */
export function seal(plain: string, key: Uint8Array, context: string): string {
  const nonce = cryptoRandomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `s1.${body.toString('base64url')}`;
}

/**
 * Reads what `seal` wrote under the same key and context.
 * @throws Error when it was altered, moved to another context or sealed under another key.
 */
export function open(sealed: string, key: Uint8Array, context: string): string {
  const body = Buffer.from(sealed.startsWith('s1.') ? sealed.slice(3) : '', 'base64url');
  if (body.length < 28) throw new Error('not a sealed secret: store it again');
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, 12), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(body.subarray(-16));
  try {
    return decipher.update(body.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Error('a sealed secret does not open: the encryption key changed or the row was altered');
  }
}
