import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { open, openWith, readSealingKey, seal } from '#lib/platform/sealing';
import { displayOf, hashKey, isWellFormedKey, makeKey } from '#lib/platform/secrets';

const zeros = `mg_${'0'.repeat(43)}`;

/** An independent reading of six base62 digits. */
function numberOf(digits: string): number {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return [...digits].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0);
}

describe('an API key (contract: authentication/key-format, authentication/key-at-rest)', () => {
  it('is mg_, 43 base62 digits of the random bytes and 6 of the CRC-32 of all before', () => {
    const key = makeKey(() => new Uint8Array(32));
    expect(key.slice(0, 46)).toBe(zeros);
    expect(key).toHaveLength(52);
    expect(numberOf(key.slice(46))).toBe(crc32(zeros));
  });

  it('carries all 256 bits', () => {
    const ones = makeKey(() => new Uint8Array(32).fill(255));
    const last = makeKey(() => Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 1 : 0)));
    expect(ones.slice(0, 46)).toMatch(/^mg_[1-9A-Za-z][0-9A-Za-z]{42}$/);
    expect(last.slice(0, 46)).toBe(`mg_${'0'.repeat(42)}1`);
  });

  it('is unique and well-formed 10,000 times', () => {
    const keys = new Set<string>();
    for (let i = 0; i < 10_000; i++) {
      const key = makeKey();
      if (!isWellFormedKey(key)) throw new Error(`malformed: ${key}`);
      keys.add(key);
    }
    expect(keys.size).toBe(10_000);
  });

  it('is malformed with any one character changed', () => {
    const key = makeKey();
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === 'x' ? 'y' : 'x';
      expect(isWellFormedKey(key.slice(0, i) + other + key.slice(i + 1)), `at ${i}`).toBe(false);
    }
  });

  it.each([
    '',
    'mg_',
    'sk-proj-abc',
    zeros,
    `${zeros}000000`,
    `${makeKey()} `,
    `${makeKey()}0`,
    `M${makeKey().slice(1)}`,
  ])('is not %j', (text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  it('is hashed by HMAC-SHA-256 under the pepper', () => {
    // RFC 4231, test case 2.
    expect(hashKey('what do ya want for nothing?', 'Jefe').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
    expect(hashKey('a', 'one')).not.toEqual(hashKey('a', 'two'));
  });

  it('shows only its first 7 and last 4 characters', () => {
    expect(displayOf('mg_abcdefghijkl')).toEqual({ start: 'mg_abcd', end: 'ijkl' });
  });
});

describe('a sealed secret', () => {
  const key = Buffer.alloc(32, 7);

  it('opens under the same key and context, and is different each time', () => {
    const sealed = seal('sk-ünïcode', key, 'provider:a');
    expect(open(sealed, key, 'provider:a')).toBe('sk-ünïcode');
    expect(seal('sk-ünïcode', key, 'provider:a')).not.toBe(sealed);
    expect(open(seal('', key, 'c'), key, 'c')).toBe('');
  });

  it('cannot be decrypted in another context, under another key, altered or cut', () => {
    const sealed = seal('secret', key, 'provider:a');
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    bytes.writeUInt8(bytes.readUInt8(13) ^ 1, 13);
    const wrong: [string, Buffer, string][] = [
      [sealed, key, 'provider:b'],
      [sealed, Buffer.alloc(32, 8), 'provider:a'],
      [`s1.${bytes.toString('base64url')}`, key, 'provider:a'],
      [sealed.slice(0, 20), key, 'provider:a'],
      ['secret', key, 'provider:a'],
    ];
    for (const [text, other, context] of wrong) expect(() => open(text, other, context)).toThrow(/secret/);
  });

  it('opens under any of several keys, is sealed under the first, and says whether that is so', () => {
    const [older, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const sealed = seal('secret', older, 'c');
    expect(openWith(sealed, [current, older], 'c')).toEqual({ plain: 'secret', current: false });
    const resealed = seal('secret', [current, older], 'c');
    expect(openWith(resealed, [current, older], 'c')).toEqual({ plain: 'secret', current: true });
    expect(() => open(resealed, [older], 'c')).toThrow(/cannot be decrypted/);
    expect(() => open(sealed, [current, older], 'd')).toThrow(/cannot be decrypted/);
    expect(() => seal('secret', [], 'c')).toThrow(/no key/);
  });

  it('accepts 32 bytes of key as hex or base64 and nothing else', () => {
    expect(readSealingKey(key.toString('hex'))).toEqual(key);
    expect(readSealingKey(key.toString('base64'))).toEqual(key);
    expect(() => readSealingKey('short')).toThrow(/32 bytes/);
  });
});
