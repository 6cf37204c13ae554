import type { S3Client } from '@aws-sdk/client-s3';
import pTimeout from 'p-timeout';
import { problemOf } from '#lib/gateway/content/objects/problem';
import type { StoreSettings } from '#lib/gateway/content/objects/settings';

/** Reads objects. */
export interface ObjectReader {
  /** @returns null: there is no such object. @throws StoreProblem */
  get(name: string): Promise<Buffer | null>;
}

/** Writes and deletes objects. */
export interface ObjectWriter {
  /** @throws StoreProblem */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Also if there is no such object. @throws StoreProblem */
  remove(name: string): Promise<void>;
}

/** The store did not do it; the message says why, and what to do, without secrets. */
export class StoreProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StoreProblem';
  }
}

/** How long the store may take for one object, ms. */
const OBJECT_MS = 5_000;
/** Far more than sealed content can be: an answer that is longer is not ours. */
const MOST_BYTES = 8 * 1_048_576;
/** Connections to the store. */
const SOCKETS = 128;
const CHECK_NAME = 'gateway-check';

/** Names of objects: `s3://bucket/key`. They contain ids, and no secret. */
export function objectName({ bucket, prefix }: { bucket: string; prefix: string }, path: string): string {
  return `s3://${bucket}/${prefix === '' ? '' : `${prefix}/`}${path}`;
}

/**
 * A store that speaks S3. The SDK is loaded with the first object; its default chain finds the credentials, and renews
 * them.
 */
export class ObjectStore implements ObjectReader, ObjectWriter {
  readonly #settings: StoreSettings;
  #client: Promise<S3Client> | null = null;

  constructor(settings: StoreSettings) {
    this.#settings = settings;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#put(name, bytes);
  }

  async get(name: string): Promise<Buffer | null> {
    return this.#within(async (client, abortSignal) => {
      const { GetObjectCommand } = await import('@aws-sdk/client-s3');
      try {
        const { Body } = await client.send(new GetObjectCommand(placeOf(name)), { abortSignal });
        const chunks: Uint8Array[] = [];
        let size = 0;
        for await (const chunk of Body as AsyncIterable<Uint8Array>) {
          size += chunk.length;
          abortSignal.throwIfAborted();
          if (size > MOST_BYTES) throw new RangeError('too long');
          chunks.push(chunk);
        }
        return Buffer.concat(chunks);
      } catch (error) {
        if (error instanceof Error && error.name === 'NoSuchKey') return null;
        throw error;
      }
    });
  }

  async remove(name: string): Promise<void> {
    await this.#within(async (client, abortSignal) => {
      const { DeleteObjectCommand } = await import('@aws-sdk/client-s3');
      await client.send(new DeleteObjectCommand(placeOf(name)), { abortSignal });
    });
  }

  /**
   * Whether it writes, reads and deletes; it leaves one small object, which always has the same name.
   * @returns what else the operator should know; null: nothing. @throws StoreProblem
   */
  async check(): Promise<string | null> {
    const { target } = this.#settings;
    if (target === null) return null;
    const name = objectName(target, CHECK_NAME);
    const { VersionId: version } = await this.#put(name, Buffer.from('ok'));
    if ((await this.get(name)) === null) throw new StoreProblem('the content store lost what was written');
    await this.remove(`${name}-deleted`);
    if (version === undefined || version === 'null') return null;
    return 'the bucket keeps old versions, so deleted content stays in it: turn versioning off, or have versions expire after a day';
  }

  #put(name: string, bytes: Uint8Array) {
    return this.#within(async (client, abortSignal) => {
      const { PutObjectCommand } = await import('@aws-sdk/client-s3');
      const type = { ContentType: 'application/octet-stream', ContentLength: bytes.length };
      return client.send(new PutObjectCommand({ ...placeOf(name), ...type, Body: bytes }), { abortSignal });
    });
  }

  async #within<R>(work: (client: S3Client, abort: AbortSignal) => Promise<R>): Promise<R> {
    this.#client ??= this.#open();
    const client = this.#client;
    const abort = new AbortController();
    const done = client.then((opened) => work(opened, abort.signal));
    try {
      return await pTimeout(done, { milliseconds: OBJECT_MS });
    } catch (error) {
      throw new StoreProblem(problemOf(error, this.#settings, OBJECT_MS));
    } finally {
      // Not everything that the SDK waits for ends with its signal: the wait for credentials does not.
      abort.abort();
    }
  }

  async #open(): Promise<S3Client> {
    const { S3Client } = await import('@aws-sdk/client-s3');
    const { endpoint, region, pathStyle } = this.#settings;
    const agent = { maxSockets: SOCKETS, keepAlive: true };
    return new S3Client({
      ...(endpoint && { endpoint }),
      ...(region && { region }),
      forcePathStyle: pathStyle,
      maxAttempts: 2,
      // Other stores than AWS's know no checksums of their own kind; the signature covers the bytes.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: OBJECT_MS,
        httpAgent: agent,
        httpsAgent: agent,
        socketAcquisitionWarningTimeout: 2 ** 31 - 1,
      },
    });
  }
}

function placeOf(name: string): { Bucket: string; Key: string } {
  const { hostname, pathname } = new URL(name);
  return { Bucket: hostname, Key: pathname.slice(1) };
}
