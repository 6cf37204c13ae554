/** Sound of the simulated provider: 24,000 samples a second of 16 bits, one channel. */
const RATE = 24_000;
const BYTES_PER_SAMPLE = 2;
const PIECE_MS = 100;
/** A frame of MPEG 2 Layer III at 64 kbit/s: 24 ms of silence, whose side information and data are zeros. */
const FRAME_BYTES = 192;
export const FRAME_MS = 24;
const frameHead = Buffer.from([0xff, 0xf3, 0x84, 0xc4]);

/** Bare samples of a tone of 440 Hz, piece by piece. */
export function* tone(ms: number): Generator<Buffer> {
  for (let from = 0; from < ms; from += PIECE_MS) {
    const samples = Math.round((Math.min(PIECE_MS, ms - from) * RATE) / 1000);
    const piece = Buffer.alloc(samples * BYTES_PER_SAMPLE);
    const start = Math.round((from * RATE) / 1000);
    for (let at = 0; at < samples; at += 1) {
      const level = Math.sin(((start + at) * 2 * Math.PI * 440) / RATE) * 6_000;
      piece.writeInt16LE(Math.round(level), at * BYTES_PER_SAMPLE);
    }
    yield piece;
  }
}

/** A file that players play: its chunk of remarks has the text, so that it can be written down again. */
export function* wave(ms: number, text: string): Generator<Buffer> {
  const note = Buffer.from(text);
  const remark = Buffer.alloc(20 + note.length + (note.length % 2));
  remark.write('LIST', 0);
  remark.writeUInt32LE(remark.length - 8, 4);
  remark.write('INFOICMT', 8);
  remark.writeUInt32LE(note.length, 16);
  note.copy(remark, 20);
  const dataBytes = Math.round((ms * RATE) / 1000) * BYTES_PER_SAMPLE;
  const head = Buffer.alloc(36);
  head.write('RIFF', 0);
  head.writeUInt32LE(28 + remark.length + 8 + dataBytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  const data = Buffer.alloc(8);
  data.write('data', 0);
  data.writeUInt32LE(dataBytes, 4);
  yield Buffer.concat([head, remark, data]);
  yield* tone(ms);
}

/** Frames of silence, four a piece. */
export function* silence(ms: number): Generator<Buffer> {
  const frame = Buffer.concat([frameHead, Buffer.alloc(FRAME_BYTES - frameHead.length)]);
  for (let left = Math.ceil(ms / FRAME_MS); left > 0; left -= 4) {
    yield Buffer.concat(Array.from({ length: Math.min(4, left) }, () => frame));
  }
}

/** What is heard in a file: how long it is, and the remark of `wave`. */
export interface Heard {
  readonly ms: number;
  readonly text: string | null;
}

/** @returns null for a file that is no sound that is known here. */
export function hear(file: Buffer): Heard | null {
  const name = file.toString('latin1', 0, 4);
  if (name === 'RIFF') return hearWave(file);
  const known =
    /^(ID3|OggS|fLaC|\xff[\xe2-\xff])/.test(name) ||
    file.toString('latin1', 4, 8) === 'ftyp' ||
    file.toString('hex', 0, 4) === '1a45dfa3';
  // Of other files, only as much is known as most voices have: 32 kbit/s.
  return known ? { ms: Math.ceil(file.length / 4), text: null } : null;
}

function hearWave(file: Buffer): Heard | null {
  let [rate, text]: [number, string | null] = [0, null];
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 20 <= file.length) rate = file.readUInt32LE(at + 16);
    if (name === 'LIST' && file.toString('latin1', at + 8, at + 16) === 'INFOICMT') {
      const bytes = file.readUInt32LE(at + 16);
      text = file.toString('utf8', at + 20, Math.min(at + 20 + bytes, file.length));
    }
    if (name === 'data') {
      const bytes = Math.min(size, file.length - at - 8);
      return rate > 0 ? { ms: Math.round((bytes * 1000) / rate), text } : null;
    }
    at += 8 + size + (size % 2);
  }
  return null;
}
