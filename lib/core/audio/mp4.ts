import { ended } from '#lib/core/audio/ogg';
import type { Next, Step } from '#lib/core/audio/step';

/** Boxes that are read into; all others are passed over. */
const entered: ReadonlySet<string> = new Set(['moov', 'mvex']);

/** MP4 and M4A: the header of the movie says how long it is; one in fragments may say it in their header. */
export function mp4(): Step {
  return box(0);
}

/** @param timescale units a second, once it is known. */
function box(timescale: number): Step {
  const unknown: Step = {
    want: 8,
    ms: () => null,
    take(head): Next | null {
      const size = head.readUInt32BE(0);
      const name = head.toString('latin1', 4, 8);
      if (size === 1) return { step: longBox(timescale, name) };
      // Up to the end of the file.
      if (size === 0) return null;
      return size < 8 ? null : inBox(timescale, name, size - 8);
    },
  };
  return unknown;
}

function longBox(timescale: number, name: string): Step {
  return {
    want: 8,
    ms: () => null,
    take(bytes) {
      const size = Number(bytes.readBigUInt64BE(0));
      return size < 16 || !Number.isSafeInteger(size) ? null : inBox(timescale, name, size - 16);
    },
  };
}

function inBox(timescale: number, name: string, bytes: number): Next {
  if (entered.has(name)) return { step: box(timescale) };
  if (name === 'mvhd' && bytes >= 32) return { step: movieHeader(bytes - 32) };
  if (name === 'mehd' && bytes >= 12 && timescale > 0) return { step: fragmentsHeader(timescale) };
  return { step: box(timescale), skip: bytes };
}

function movieHeader(rest: number): Step {
  return {
    want: 32,
    ms: () => null,
    take(bytes) {
      const long = bytes[0] === 1;
      const timescale = bytes.readUInt32BE(long ? 20 : 12);
      const duration = long ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
      const said = timescale > 0 && duration > 0 && duration !== 0xffff_ffff;
      if (said) return { step: ended((duration * 1000) / timescale), skip: Number.MAX_SAFE_INTEGER };
      return { step: box(timescale), skip: rest };
    },
  };
}

function fragmentsHeader(timescale: number): Step {
  return {
    want: 12,
    ms: () => null,
    take(bytes) {
      const duration = bytes[0] === 1 ? Number(bytes.readBigUInt64BE(4)) : bytes.readUInt32BE(4);
      return { step: ended((duration * 1000) / timescale), skip: Number.MAX_SAFE_INTEGER };
    },
  };
}
