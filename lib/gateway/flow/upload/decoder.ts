import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  constants as zlib,
} from 'node:zlib';
import type { Refused } from '#lib/core/errors';
import { invalidBody, tooLargeDecoded } from '#lib/gateway/flow/upload/body-faults';

/** How the bytes of a body are compressed (contract: body/compressed). */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** Decoded bytes that are passed on at once; a decoder never keeps more than two such pieces. */
const PIECE_BYTES = 64 * 1024;
/** A zstd body may be a sequence of frames; each takes its own decoder. */
const MOST_FRAMES = 100;
/** 8 MiB: the largest window that zstd may have over HTTP (RFC 9659). */
const ZSTD_WINDOW_LOG = 23;

const options = { chunkSize: PIECE_BYTES };
const decoders: Readonly<Record<Coding, () => Transform & { readonly bytesWritten: number }>> = {
  gzip: () => createGunzip(options),
  deflate: () => createInflate(options),
  br: () => createBrotliDecompress(options),
  zstd: () => createZstdDecompress({ ...options, params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/** The most that a decoder keeps of what it has decoded, bytes. */
export const windowBytes: Readonly<Record<Coding, number>> = {
  gzip: 32 * 1024,
  deflate: 32 * 1024,
  br: 16 * 1024 * 1024,
  zstd: 2 ** ZSTD_WINDOW_LOG,
};

/**
 * @param header the Content-Encoding of a request.
 * @returns null: not compressed; `Refused`: compressed in a way that is not read.
 */
export function readCoding(header: string | undefined): Coding | null | Refused {
  const coding = header?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return null;
  if (coding === 'x-gzip') return 'gzip';
  if (Object.hasOwn(decoders, coding)) return coding as Coding;
  return invalidBody(
    coding.includes(',')
      ? 'The request body has more than one Content-Encoding; use one or none.'
      : 'The Content-Encoding of the request body is not supported; use gzip, deflate, br, zstd or none.',
  );
}

/** Decodes one body as it arrives; decoded bytes are counted before they are passed on. */
export class Decoder {
  /** Decoded bytes so far. */
  bytes = 0;
  readonly #coding: Coding;
  readonly #limit: number;
  readonly #give: (piece: Uint8Array) => Promise<void> | null;
  #frame: Frame;
  #frames = 1;

  /**
   * @param limit decoded bytes; decoding stops at the first piece beyond.
   * @param give takes each piece; the next one is decoded when it is done.
   */
  constructor(coding: Coding, limit: number, give: (piece: Uint8Array) => Promise<void> | null) {
    this.#coding = coding;
    this.#limit = limit;
    this.#give = give;
    this.#frame = this.#nextFrame();
  }

  /** Decodes the next chunk of the body. @throws Refused `invalid_body`; whatever `give` throws. */
  async push(chunk: Uint8Array): Promise<void> {
    let unread = await this.#frame.push(chunk);
    while (unread > 0) {
      // Node's decoder ends with the first frame of a chunk.
      if (this.#coding !== 'zstd' || ++this.#frames > MOST_FRAMES) throw surplus(this.#coding);
      await this.#frame.end();
      this.#frame = this.#nextFrame();
      unread = await this.#frame.push(chunk.subarray(chunk.length - unread));
    }
  }

  /** The body has ended. Resolves when all of it was handed on. @throws as `push`. */
  end(): Promise<void> {
    return this.#frame.end();
  }

  /** Frees the decoder's memory, also in the middle of a body. */
  close(): void {
    this.#frame.close();
  }

  #nextFrame(): Frame {
    return new Frame(decoders[this.#coding](), this.#coding, async (piece) => {
      this.bytes += piece.length;
      if (this.bytes > this.#limit) throw tooLargeDecoded(this.#limit);
      await this.#give(piece);
    });
  }
}

/** One stream of node:zlib. */
class Frame {
  readonly #stream: Transform & { readonly bytesWritten: number };
  /**
   * Resolves when its last piece was passed on; rejects with what `give` threw, or a refusal if it cannot be decoded.
   */
  readonly #ended: Promise<void>;
  #sent = 0;

  constructor(
    stream: Transform & { readonly bytesWritten: number },
    coding: Coding,
    give: (piece: Uint8Array) => Promise<void>,
  ) {
    this.#stream = stream;
    let given: Promise<unknown> = Promise.resolve();
    this.#ended = new Promise((resolve, reject) => {
      stream.on('data', (piece: Buffer) => {
        stream.pause();
        given = give(piece).then(
          () => stream.resume(),
          (error: unknown) => {
            reject(error);
            stream.destroy();
          },
        );
      });
      // A stream ends when its last piece is read, not when its consumer is done with it.
      stream.on('end', () => given.then(() => resolve()));
      stream.on('error', (error) => reject(undecodable(coding, error)));
    });
    // If a body is abandoned in the middle, nothing waits for its end.
    this.#ended.catch(() => undefined);
  }

  /** @returns how many bytes at the end of the chunk come after the end of the frame. */
  async push(chunk: Uint8Array): Promise<number> {
    this.#sent += chunk.length;
    const written = new Promise<void>((resolve) => this.#stream.write(chunk, () => resolve()));
    // A write that fails may never call back.
    await Promise.race([written, this.#ended]);
    if (this.#stream.destroyed) await this.#ended;
    return this.#sent - this.#stream.bytesWritten;
  }

  end(): Promise<void> {
    this.#stream.end();
    return this.#ended;
  }

  close(): void {
    this.#stream.destroy();
  }
}

function surplus(coding: Coding): Refused {
  return invalidBody(
    `The request body continues after the end of its ${coding} data; send only the compressed data.`,
  );
}

function undecodable(coding: Coding, error: NodeJS.ErrnoException): Refused {
  if (error.code === 'ZSTD_error_frameParameter_windowTooLarge') {
    return invalidBody(
      'The zstd window of the request body is larger than 8 MiB; compress it with a smaller one.',
    );
  }
  if (error.code === 'Z_BUF_ERROR') {
    return invalidBody(`The ${coding} data of the request body ends early; send all of it.`);
  }
  return invalidBody(
    `The request body is not valid ${coding}; compress all of it, or send it without Content-Encoding.`,
  );
}
