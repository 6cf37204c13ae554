import type { Next, Step } from '#lib/core/audio/step';

/** Bytes of a second of bare samples: 16 bits, 24,000 a second, one channel. */
const PCM_BYTES = 48_000;
/** Formats whose samples have a fixed size: whole numbers, floats, A-law, µ-law, extensible. */
const fixed: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe]);

/** Bare samples, as `response_format: pcm` sends them. */
export function pcm(): Step {
  return samples(PCM_BYTES, Number.MAX_SAFE_INTEGER, 1);
}

/** The chunks of a WAVE file: the rate is in `fmt `, the samples are in `data`. */
export function wave(bytesPerSecond = 0): Step {
  return {
    want: 8,
    ms: () => null,
    take(head) {
      const name = head.toString('latin1', 0, 4);
      const size = head.readUInt32LE(4);
      if (name === 'data') return { step: samples(bytesPerSecond, openEnded(size), 1) };
      // Chunks have an even length.
      const padded = size + (size % 2);
      if (name !== 'fmt ' || size < 16) return { step: wave(bytesPerSecond), skip: padded };
      return { step: rateOf(padded - 16) };
    },
  };
}

/** A stream says nothing of its length: 0, or the largest one. */
function openEnded(size: number): number {
  return size === 0 || size >= 0x7fffff00 ? Number.MAX_SAFE_INTEGER : size;
}

function rateOf(rest: number): Step {
  return {
    want: 16,
    ms: () => null,
    take(bytes) {
      const format = bytes.readUInt16LE(0);
      const counted = (bytes.readUInt16LE(2) * bytes.readUInt32LE(4) * bytes.readUInt16LE(14)) / 8;
      return { step: wave(fixed.has(format) ? counted : bytes.readUInt32LE(8)), skip: rest };
    },
  };
}

/** Counts bytes of samples as they come. @param want the first of them are taken as a header. */
function samples(bytesPerSecond: number, most: number, want: number): Step {
  let bytes = 0;
  const step: Step = {
    want,
    ms: () => (bytesPerSecond > 0 ? (Math.min(bytes, most) * 1000) / bytesPerSecond : null),
    passed: (count) => {
      bytes += count;
    },
    take: (head): Next => {
      bytes += head.length;
      return { step, skip: Number.MAX_SAFE_INTEGER };
    },
  };
  return step;
}
