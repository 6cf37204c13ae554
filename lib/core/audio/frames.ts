import type { Next, Step } from '#lib/core/audio/step';

/** Formats that are one frame after another, each with a header that says how long it is: MPEG audio and ADTS. */

/** kbit/s by version (1; 2 and 2.5) and layer (1, 2, 3). */
const bitRates: Readonly<Record<string, readonly number[]>> = {
  '1.1': [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1.2': [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1.3': [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2.1': [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2.2': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2.3': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const mpegRates = [44_100, 48_000, 32_000] as const;
const adtsRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;

/** Bytes between frames that are passed over, such as a tag at the end; beyond that nothing is known. */
const MOST_STRAY_BYTES = 64 * 1024;
/** Where the first frame of an MPEG file says that it describes the file and has no sound. */
const INFO_BYTES = 40;

interface Frame {
  /** With its header. */
  readonly bytes: number;
  readonly ms: number;
}

/** What the frames so far add up to. */
interface Tally {
  ms: number;
  strayBytes: number;
}

export function isMpeg(bytes: Buffer): boolean {
  return mpegFrame(bytes, 0) !== null;
}

export function isAdts(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xff && ((bytes[at + 1] ?? 0) & 0xf6) === 0xf0;
}

/** A file of MPEG audio. @param start its first bytes. */
export function mpeg(start: Buffer): Next {
  return { step: firstFrame(), keep: start };
}

/** A stream of AAC. @param start its first bytes. */
export function adts(start: Buffer): Next {
  return { step: frames({ ms: 0, strayBytes: 0 }, 7, adtsFrame), keep: start };
}

/** The first frame may only describe the others. */
function firstFrame(): Step {
  const tally: Tally = { ms: 0, strayBytes: 0 };
  return {
    want: INFO_BYTES,
    ms: () => null,
    take(bytes) {
      const frame = mpegFrame(bytes, 0);
      if (frame === null) return null;
      if (!/Xing|Info|VBRI/.test(bytes.toString('latin1'))) tally.ms += frame.ms;
      return passOver(frames(tally, 4, mpegFrame), bytes, frame.bytes);
    },
  };
}

function frames(tally: Tally, want: number, read: (bytes: Buffer, at: number) => Frame | null): Step {
  const step: Step = {
    want,
    ms: () => (tally.strayBytes > MOST_STRAY_BYTES ? null : tally.ms),
    take(bytes) {
      const frame = read(bytes, 0);
      if (frame !== null) {
        tally.ms += frame.ms;
        return passOver(step, bytes, frame.bytes);
      }
      tally.strayBytes += 1;
      return tally.strayBytes > MOST_STRAY_BYTES ? null : { step, keep: bytes.subarray(1) };
    },
  };
  return step;
}

/** Goes on behind so many bytes, of which `bytes` have come. */
function passOver(step: Step, bytes: Buffer, length: number): Next {
  return length >= bytes.length
    ? { step, skip: length - bytes.length }
    : { step, keep: bytes.subarray(Math.max(1, length)) };
}

function mpegFrame(bytes: Buffer, at: number): Frame | null {
  const [first = 0, second = 0, third = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  if (version === 1 || layer === 4) return null;
  const family = version === 3 ? 1 : 2;
  const kbits = bitRates[`${family}.${layer}`]?.[(third >> 4) - 1];
  const full = mpegRates[((third >> 2) & 3) as 0 | 1 | 2];
  if (kbits === undefined || full === undefined) return null;
  const rate = version === 3 ? full : version === 2 ? full / 2 : full / 4;
  const padding = (third >> 1) & 1;
  const samples = layer === 1 ? 384 : layer === 2 || family === 1 ? 1152 : 576;
  const slot = layer === 1 ? 4 : 1;
  const size = (Math.floor(((samples / 8 / slot) * kbits * 1000) / rate) + padding) * slot;
  return { bytes: Math.max(size, 4), ms: (samples * 1000) / rate };
}

function adtsFrame(bytes: Buffer, at: number): Frame | null {
  if (!isAdts(bytes, at)) return null;
  const rate = adtsRates[((bytes[at + 2] ?? 0) >> 2) & 15];
  const [third = 0, fourth = 0, fifth = 0, sixth = 0] = bytes.subarray(at + 3, at + 7);
  const size = ((third & 3) << 11) | (fourth << 3) | (fifth >> 5);
  if (rate === undefined || size < 7) return null;
  return { bytes: size, ms: (1024 * ((sixth & 3) + 1) * 1000) / rate };
}
