import { Busboy } from '@fastify/busboy';
import { MAX_PARTS, MAX_TEXT_BYTES, type Part } from '#lib/core/families/multipart/finder';
import { BYTES } from '#lib/core/families/multipart/part-head';

/** The two readers do not see the same parts. */
export class Disagreement extends Error {}

interface Head {
  readonly name: string | undefined;
  readonly isFile: boolean;
}

interface Value {
  readonly name: string;
  /** null: too long to be kept; undefined: in another charset, not to be compared. */
  readonly text: string | null | undefined;
}

/**
 * A second, independent reader of the same bytes: a body that two parsers understand differently could
 * mean one thing here and another at the provider (contract: body/multipart-agreement).
 */
export class SecondReader {
  readonly #busboy: InstanceType<typeof Busboy>;
  readonly #ended: Promise<void>;
  /** What this reader has found, and what the first one has. */
  readonly #heads: Head[] = [];
  readonly #ownHeads: Head[] = [];
  readonly #values: Value[] = [];
  readonly #ownValues: Value[] = [];
  #fault: unknown = null;

  /** @param contentType whose boundary was found valid. */
  constructor(contentType: string) {
    this.#busboy = new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: MAX_TEXT_BYTES, parts: MAX_PARTS, headerSize: 16 * 1024 },
      isPartAFile: (name, type, filename) => {
        const isFile = filename !== undefined || type?.toLowerCase() === BYTES;
        this.#heads.push({ name, isFile });
        return isFile;
      },
    });
    // Files have no listener here: their bytes are passed over.
    this.#busboy.on('field', (name, text, _nameTruncated, truncated) => {
      this.#values.push({ name, text: truncated ? null : text });
    });
    this.#ended = new Promise((resolve) => {
      this.#busboy.on('finish', resolve);
      this.#busboy.on('error', (error) => {
        this.#fault ??= error;
        resolve();
      });
    });
  }

  /** @returns what to wait for before the next piece; null: nothing. @throws Disagreement. */
  push(chunk: Uint8Array): Promise<void> | null {
    this.#check();
    if (this.#busboy.write(chunk)) return null;
    return new Promise((resolve) => {
      this.#busboy.once('drain', resolve);
      void this.#ended.then(resolve);
    });
  }

  /** A part as the first reader understood it. */
  compare({ name, filename, text, plain }: Part): void {
    this.#ownHeads.push({ name, isFile: filename !== null });
    if (filename !== null) return;
    this.#ownValues.push({ name, text: plain ? (text?.toString('utf8') ?? null) : undefined });
  }

  /** @throws Disagreement unless both have seen the same parts to the end. */
  async end(): Promise<void> {
    this.#busboy.end();
    await this.#ended;
    this.#check();
    const heads = this.#heads;
    const same = this.#ownHeads.every(
      ({ name, isFile }, at) => heads[at]?.name === name && heads[at]?.isFile === isFile,
    );
    if (!same || heads.length !== this.#ownHeads.length || this.#values.length + this.#ownValues.length > 0) {
      throw new Disagreement('the parts differ');
    }
  }

  /** Compares the values that both have found. */
  #check(): void {
    if (this.#fault !== null) throw new Disagreement(String(this.#fault));
    for (let both = Math.min(this.#values.length, this.#ownValues.length); both > 0; both--) {
      const [seen, own] = [this.#values.shift(), this.#ownValues.shift()];
      const differs = own?.text !== undefined && seen?.text !== own.text;
      if (seen?.name !== own?.name || differs) throw new Disagreement('a value differs');
    }
  }
}
