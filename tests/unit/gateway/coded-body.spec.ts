import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, constants as zlib, zstdCompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { Refused } from '#lib/core/errors';
import { type BodyBudget, createBodyBudget } from '#lib/gateway/flow/body-budget';
import type { BodySource } from '#lib/gateway/flow/lane';
import { decodedBody } from '#lib/gateway/flow/upload/coded-body';
import { readCoding } from '#lib/gateway/flow/upload/decoder';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';

const mebibyte = 1024 ** 2;
const limit = mebibyte;
/** Its usual quality takes a hundred times as long. */
const brotli = (bytes: Uint8Array | string) =>
  brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } });
const coders = { gzip: gzipSync, deflate: deflateSync, br: brotli, zstd: zstdCompressSync };
const codings = ['gzip', 'deflate', 'br', 'zstd'] as const;
type Coding = (typeof codings)[number];
const slow: BodyPace = { stallMs: 30_000, windowMs: 10_000, windowBytes: 640 * 1024 };

/** A body as it comes over a connection, and what became of it. */
function arriving(bytes: Uint8Array, pieceBytes = 64 * 1024, beforeEach: () => void = () => {}) {
  const listeners: (() => void)[] = [];
  const seen = { sent: 0 };
  const body: BodySource = {
    large: () => false,
    read: () => Promise.reject(new Error('a coded body is poured')),
    pour: async (_limit, take) => {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        beforeEach();
        const piece = bytes.subarray(at, at + pieceBytes);
        seen.sent += piece.length;
        await take(piece);
      }
    },
    free: () => {},
    onRelease: (listener) => listeners.push(listener),
    drop: () => {},
  };
  const release = () => {
    for (const listener of listeners) listener();
  };
  return { body, seen, release };
}

/** A budget that tells how much of it is held now and was held at most. */
function observed(totalBytes = 64 * mebibyte) {
  const budget = createBodyBudget(totalBytes);
  const held = { now: 0, most: 0 };
  const open: BodyBudget['open'] = (keyId, mostBytes) => {
    const share = budget.open(keyId, mostBytes);
    let own = 0;
    const hold = (bytes: number) => {
      held.now += bytes - own;
      own = bytes;
      held.most = Math.max(held.most, held.now);
    };
    return {
      grow: (bytes) => {
        const wait = share.grow(bytes);
        if (wait) return wait.then(() => hold(bytes));
        hold(bytes);
        return null;
      },
      received: (bytes) => {
        hold(bytes);
        share.received(bytes);
      },
      release: () => {
        hold(0);
        share.release();
      },
    };
  };
  return { budget: { open }, held };
}

const readFrom = (bytes: Uint8Array, coding: Coding, pieceBytes?: number) =>
  decodedBody(arriving(bytes, pieceBytes).body, coding, createBodyBudget(64 * mebibyte), slow).read(
    limit,
    'key',
  );
const refusalOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 'read',
    (error: unknown) =>
      error instanceof Refused ? `${error.refusal.code}: ${error.refusal.message}` : error,
  );

describe('the Content-Encoding of a request (contract: body/compressed)', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['Identity', null],
    ['gzip', 'gzip'],
    ['X-GZIP', 'gzip'],
    [' br ', 'br'],
    ['deflate', 'deflate'],
    ['zstd', 'zstd'],
  ])('%s is read as %s', (header, coding) => expect(readCoding(header)).toBe(coding));

  it.each([
    ['gzip, gzip', 'more than one Content-Encoding'],
    ['identity, zstd', 'more than one Content-Encoding'],
    ['compress', 'is not supported'],
    ['toString', 'is not supported'],
    ['aes128gcm', 'is not supported'],
  ])('%s is refused', (header, message) => {
    const refused = readCoding(header);
    expect(refused instanceof Refused && refused.refusal.code).toBe('invalid_body');
    expect(refused instanceof Refused && refused.refusal.message).toContain(message);
  });

  it('a body without Content-Encoding stays as it is', () => {
    const { body } = arriving(Buffer.from('{}'));
    expect(decodedBody(body, undefined, createBodyBudget(0), slow)).toBe(body);
  });
});

describe.each(codings)('a body in %s (contract: body/compressed)', (coding) => {
  const compress = coders[coding];
  const text = Buffer.from(JSON.stringify({ model: 'm', input: 'às 8 🌍 '.repeat(40_000) }));

  it.each([1, 1000, 64 * 1024, mebibyte])(
    'is decoded byte for byte, %i bytes at a time',
    async (pieceBytes) => {
      const small = text.subarray(0, 20_000);
      expect(Buffer.from(await readFrom(compress(small), coding, pieceBytes)).equals(small)).toBe(true);
      if (pieceBytes > 1) {
        expect(Buffer.from(await readFrom(compress(text), coding, pieceBytes)).equals(text)).toBe(true);
      }
    },
  );

  it('a compressed body of incompressible bytes up to the limit is read', async () => {
    const bytes = randomBytes(limit - 2048);
    expect(Buffer.from(await readFrom(compress(bytes), coding)).equals(bytes)).toBe(true);
  });

  it('a compressed body counts as large, however few bytes were sent', () => {
    const { body } = arriving(compress(text));
    expect(decodedBody(body, coding, createBodyBudget(0), slow).large()).toBe(true);
  });

  it.each([1, 64 * 1024])(
    'compressed data that ends early is refused, %i bytes at a time',
    async (pieceBytes) => {
      const whole = compress(text.subarray(0, 5_000));
      for (const bytes of [0, 1, 10, whole.length - 1]) {
        const said = await refusalOf(readFrom(whole.subarray(0, bytes), coding, pieceBytes));
        expect(said, `${bytes} bytes`).toMatch(/^invalid_body: .*(ends early|not valid)/);
      }
    },
  );

  it.each([1, 64 * 1024])(
    'with anything behind its end is refused, %i bytes at a time',
    async (pieceBytes) => {
      for (const rest of ['x', '{"model":"other"}', '\0\0\0\0']) {
        const bytes = Buffer.concat([compress(text.subarray(0, 5_000)), Buffer.from(rest)]);
        const said = await refusalOf(readFrom(bytes, coding, pieceBytes));
        expect(said, rest).toMatch(/^invalid_body: .*(continues after|not valid|ends early)/);
      }
    },
  );

  it('a body that is plain JSON, or in a coding other than declared, is refused', async () => {
    const others = codings.filter((other) => other !== coding).map((other) => coders[other](text));
    for (const bytes of [text, ...others]) {
      expect(await refusalOf(readFrom(bytes, coding))).toContain(`not valid ${coding}`);
    }
  });

  it('a body that was compressed twice is decoded once, which does not give JSON', async () => {
    const once = compress(text);
    expect(Buffer.from(await readFrom(compress(once), coding)).equals(once)).toBe(true);
  });

  it('a body that decodes to the limit is read, one that decodes to a byte more is refused', async () => {
    expect((await readFrom(compress(Buffer.alloc(limit, 'a')), coding)).length).toBe(limit);
    expect(await refusalOf(readFrom(compress(Buffer.alloc(limit + 1, 'a')), coding))).toContain(
      `decodes to more than the limit of ${limit} bytes`,
    );
  });

  it('a decompression bomb is refused before more than the limit is decoded or read', async () => {
    const bomb = compress(Buffer.alloc(32 * mebibyte));
    const { body, seen, release } = arriving(bomb, 1024);
    const { budget, held } = observed();
    const reading = decodedBody(body, coding, budget, slow).read(limit, 'key');
    expect(await refusalOf(reading)).toContain('decodes to more than the limit');
    release();
    // The body's own buffer, and as much again for the decoder's window.
    expect(held.most).toBeLessThanOrEqual(2 * limit);
    expect(held.now).toBe(0);
    // As brotli and zstd it is little more than a chunk.
    if (coding === 'gzip' || coding === 'deflate') expect(seen.sent).toBeLessThan(bomb.length / 10);
  });

  it('a compressed body is complete when its last piece has been consumed, however long that takes', async () => {
    // Two pieces: the decoder has ended before the first is taken.
    const two = text.subarray(0, 100 * 1024);
    const coded = decodedBody(arriving(compress(two)).body, coding, createBodyBudget(64 * mebibyte), slow);
    let taken = 0;
    const take = async (piece: Uint8Array) => {
      for (let round = 0; round < 300; round++) await new Promise(setImmediate);
      taken += piece.length;
    };
    await coded.pour(limit, take, 'key');
    expect(taken).toBe(two.length);
  });

  it('decoded pieces are passed on one after the other, and an error of the consumer is passed back', async () => {
    const { budget, held } = observed();
    const pieces: number[] = [];
    let busy = 0;
    const { body } = arriving(compress(text), 100);
    const coded = decodedBody(body, coding, budget, slow);
    await coded.pour(
      limit,
      async (piece) => {
        busy += 1;
        expect(busy).toBe(1);
        await new Promise(setImmediate);
        pieces.push(piece.length);
        busy -= 1;
      },
      'key',
    );
    expect(pieces.reduce((sum, bytes) => sum + bytes, 0)).toBe(text.length);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(64 * 1024);
    expect(held.now).toBe(0);
    const full = new Error('the disk is full');
    const failing = decodedBody(arriving(compress(text)).body, coding, budget, slow);
    await expect(failing.pour(limit, () => Promise.reject(full), 'key')).rejects.toBe(full);
    expect(held.now).toBe(0);
  });

  it("a compressed body occupies its bytes and its decoder's window while it is received, then only its bytes", async () => {
    const { budget, held } = observed();
    const { body, release } = arriving(compress(text));
    const coded = decodedBody(body, coding, budget, slow);
    await coded.read(limit, 'key');
    expect(held.now).toBeGreaterThanOrEqual(text.length);
    expect(held.now).toBeLessThanOrEqual(limit);
    expect(held.most).toBeGreaterThan(held.now);
    coded.free();
    expect(held.now).toBe(0);
    release();
  });
});

describe('a body of several frames', () => {
  const halves = [Buffer.from('{"model":'), Buffer.from('"m"}')] as const;

  it.each(['gzip', 'zstd'] as const)(
    'several frames of %s are one body, wherever they are cut',
    async (coding) => {
      const bytes = Buffer.concat(halves.map((half) => coders[coding](half)));
      for (const pieceBytes of [1, 7, bytes.length]) {
        expect(Buffer.from(await readFrom(bytes, coding, pieceBytes)).toString()).toBe('{"model":"m"}');
      }
    },
  );

  it('a zstd body of more than a hundred frames is refused, because each takes a decoder', async () => {
    const frames = (count: number) =>
      Buffer.concat(Array.from({ length: count }, () => zstdCompressSync('a')));
    expect((await readFrom(frames(100), 'zstd')).length).toBe(100);
    expect(await refusalOf(readFrom(frames(101), 'zstd'))).toContain('continues after');
  });
});

it('a zstd window over 8 MiB is refused before its memory is taken', async () => {
  const params = { [zlib.ZSTD_c_windowLog]: 24, [zlib.ZSTD_c_enableLongDistanceMatching]: 1 };
  const bytes = zstdCompressSync(Buffer.alloc(20 * mebibyte), { params });
  expect(await refusalOf(readFrom(bytes, 'zstd'))).toContain(
    'window of the request body is larger than 8 MiB',
  );
});

describe('the pace of a compressed body (contract: body/pace)', () => {
  it('the rate of a compressed body is counted in decoded bytes once these are large: a trickle is refused', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const bytes = gzipSync(randomBytes(mebibyte));
      const reading = (pieceBytes: number, everyMs: number) => {
        now.mockReturnValue(0);
        let ms = 0;
        const { body } = arriving(bytes, pieceBytes, () => {
          now.mockReturnValue(ms);
          ms += everyMs;
        });
        return refusalOf(decodedBody(body, 'gzip', createBodyBudget(64 * mebibyte), slow).read(limit, 'key'));
      };
      expect(await reading(64 * 1024, 2_000)).toContain('arrived at less than 64 KiB/s over 10 s');
      expect(await reading(64 * 1024, 500)).toBe('read');
      // 300 KiB of memory for 300 bytes sent, and then a byte each 20 s.
      const bomb = gzipSync(Buffer.alloc(mebibyte));
      let ms = 0;
      const { body } = arriving(bomb, 300, () => {
        now.mockReturnValue(ms);
        ms += 20_000;
      });
      const trickled = decodedBody(body, 'gzip', createBodyBudget(64 * mebibyte), slow).read(limit, 'key');
      expect(await refusalOf(trickled)).toContain('arrived at less than 64 KiB/s over 10 s');
    } finally {
      now.mockRestore();
    }
  });
});
