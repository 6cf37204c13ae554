import type { Step } from '#lib/core/audio/step';

/** What of a stream's first packet says how many samples a second has. */
const HEAD_BYTES = 48;
const NO_POSITION = 0xffff_ffff_ffff_ffffn;

/** Positions of the streams of a file, of which one follows the other. */
interface Positions {
  /** Of the streams that have ended, ms. */
  doneMs: number;
  samplesPerSecond: number;
  /** Samples before the first that is heard. */
  lead: number;
  last: bigint;
}

/** Ogg: each page says which sample it ends with. Opus, Vorbis, FLAC and Speex say their rate in the first packet. */
export function ogg(): Step {
  return page({ doneMs: 0, samplesPerSecond: 0, lead: 0, last: 0n });
}

function page(positions: Positions): Step {
  return {
    want: 27,
    ms: () => msOf(positions),
    take(head) {
      if (head.toString('latin1', 0, 4) !== 'OggS') return null;
      const first = ((head[5] ?? 0) & 2) !== 0;
      const position = head.readBigUInt64LE(6);
      if (first) {
        positions.doneMs = msOf(positions) ?? 0;
        Object.assign(positions, { samplesPerSecond: 0, lead: 0, last: 0n });
      } else if (position !== NO_POSITION && position > positions.last) positions.last = position;
      const segments = head[26] ?? 0;
      return segments === 0 ? { step: page(positions) } : { step: sizes(positions, segments, first) };
    },
  };
}

function sizes(positions: Positions, segments: number, first: boolean): Step {
  return {
    want: segments,
    ms: () => msOf(positions),
    take(table) {
      const bytes = table.reduce((sum, size) => sum + size, 0);
      const head = Math.min(bytes, HEAD_BYTES);
      if (!first || head === 0) return { step: page(positions), skip: bytes };
      return { step: firstPacket(positions, head, bytes - head) };
    },
  };
}

function firstPacket(positions: Positions, want: number, rest: number): Step {
  return {
    want,
    ms: () => msOf(positions),
    take(packet) {
      const name = packet.toString('latin1', 0, 8);
      const fits = (bytes: number) => packet.length >= bytes;
      if (name === 'OpusHead' && fits(12)) {
        positions.samplesPerSecond = 48_000;
        positions.lead = packet.readUInt16LE(10);
      } else if (name.startsWith('\x01vorbis') && fits(16))
        positions.samplesPerSecond = packet.readUInt32LE(12);
      else if (name.startsWith('\x7fFLAC') && fits(30)) positions.samplesPerSecond = flacRate(packet, 17);
      else if (name === 'Speex   ' && fits(40)) positions.samplesPerSecond = packet.readUInt32LE(36);
      return { step: page(positions), skip: rest };
    },
  };
}

function msOf({ doneMs, samplesPerSecond, lead, last }: Positions): number | null {
  if (samplesPerSecond === 0) return doneMs > 0 ? doneMs : null;
  return doneMs + Math.max(0, ((Number(last) - lead) * 1000) / samplesPerSecond);
}

/** FLAC: the first block says how many samples there are; a stream leaves that open. */
export function flac(): Step {
  return {
    want: 38,
    ms: () => null,
    take(bytes) {
      const rate = flacRate(bytes, 4);
      const samples = ((bytes[17] ?? 0) & 15) * 2 ** 32 + bytes.readUInt32BE(18);
      const isInfo = ((bytes[0] ?? 0) & 0x7f) === 0;
      if (!isInfo || rate === 0 || samples === 0) return null;
      return { step: ended((samples * 1000) / rate), skip: Number.MAX_SAFE_INTEGER };
    },
  };
}

/** @param at where the block begins that describes the stream. */
function flacRate(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at + 10, 3) >> 4;
}

/** Nothing more has to be read. */
export function ended(ms: number): Step {
  const step: Step = { want: 1, ms: () => ms, take: () => ({ step, skip: Number.MAX_SAFE_INTEGER }) };
  return step;
}
