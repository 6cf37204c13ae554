import { Busboy } from '@fastify/busboy';
import { MAX_PARTS, MAX_TEXT_BYTES, type Part } from '#lib/core/families/multipart/finder';

/**
 * A second, independent reader of the same bytes: a body that two parsers understand differently could
 * mean one thing here and another at the provider (contract: body/multipart-agreement).
 */
export interface SecondReader {
  /** @returns what to wait for before the next piece; null: nothing. @throws Disagreement. */
  push(chunk: Uint8Array): Promise<void> | null;
  /** A part as the first reader understood it. */
  compare(part: Part): void;
  /** @throws Disagreement unless both have seen the same parts to the end. */
  end(): Promise<void>;
}

/** The two readers do not see the same parts. */
export class Disagreement extends Error {}

interface Head {
  readonly name: string | undefined;
  readonly isFile: boolean;
}

interface Value {
  readonly name: string;
  /** null: too long to be kept; undefined: in a charset of its own, not to be compared. */
  readonly text: string | null | undefined;
}

/** @param contentType whose boundary was found valid. */
export function createSecondReader(contentType: string): SecondReader {
  const [heads, ownHeads]: [Head[], Head[]] = [[], []];
  const [values, ownValues]: [Value[], Value[]] = [[], []];
  let fault: Error | null = null;
  const busboy = new Busboy({
    headers: { 'content-type': contentType },
    limits: { fieldSize: MAX_TEXT_BYTES, parts: MAX_PARTS, headerSize: 16 * 1024 },
    isPartAFile: (name, _type, filename) => {
      heads.push({ name, isFile: filename !== undefined });
      return filename !== undefined;
    },
  });
  // Files have no listener here: their bytes are passed over.
  busboy.on('field', (name, text, _nameTruncated, truncated) => {
    values.push({ name, text: truncated ? null : text });
  });
  const ended = new Promise<void>((resolve) => {
    busboy.on('finish', resolve);
    busboy.on('error', (error) => {
      fault ??= error instanceof Error ? error : new Error(String(error));
      resolve();
    });
  });
  const check = () => {
    if (fault) throw new Disagreement(fault.message);
    for (let both = Math.min(values.length, ownValues.length); both > 0; both--) {
      const [seen, own] = [values.shift(), ownValues.shift()];
      const differs = own?.text !== undefined && seen?.text !== own.text;
      if (seen?.name !== own?.name || differs) throw new Disagreement('a value is another');
    }
  };
  return {
    push: (chunk) => {
      check();
      if (busboy.write(chunk)) return null;
      return new Promise((resolve) => {
        busboy.once('drain', resolve);
        void ended.then(resolve);
      });
    },
    compare: ({ name, filename, text, plain }) => {
      ownHeads.push({ name, isFile: filename !== null });
      if (filename === null)
        ownValues.push({ name, text: plain ? (text?.toString('utf8') ?? null) : undefined });
    },
    end: async () => {
      busboy.end();
      await ended;
      check();
      const same = ownHeads.every(
        ({ name, isFile }, at) => heads[at]?.name === name && heads[at]?.isFile === isFile,
      );
      if (!same || heads.length !== ownHeads.length || values.length + ownValues.length > 0) {
        throw new Disagreement('the parts are others');
      }
    },
  };
}
