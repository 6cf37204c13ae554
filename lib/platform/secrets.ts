import { createHmac, randomBytes as cryptoRandomBytes, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'mg_';
const shape = /^mg_[0-9A-Za-z]{49}$/;
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
 * A new API key: `mg_`, 256 random bits as 43 base62 digits, 6 base62 digits of the CRC-32 of everything before
 * (contract: authentication/key-format).
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
 * Whether a string can be a key at all: a malformed one is refused without a look-up
 * (contract: authentication/malformed).
 */
export function isWellFormedKey(text: string): boolean {
  return shape.test(text) && text.slice(-6) === checksum(text.slice(0, -6));
}

/** Whether a string can be a management key at all; an API key never is. */
export function isWellFormedManagementKey(text: string): boolean {
  return managementShape.test(text) && text.slice(-6) === checksum(text.slice(0, -6));
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
