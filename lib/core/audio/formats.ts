import { adts, isAdts, isMpeg, mpeg } from '#lib/core/audio/frames';
import { mp4 } from '#lib/core/audio/mp4';
import { flac, ogg } from '#lib/core/audio/ogg';
import type { Next, Step } from '#lib/core/audio/step';
import { wave } from '#lib/core/audio/wave';
import { webm } from '#lib/core/audio/webm';

const unknown = () => null;

/** The first step: which format the bytes are in, by what they begin with. Only an ID3 tag may stand before that. */
export function detect(): Step {
  return { want: 12, ms: unknown, take: (bytes) => (isTag(bytes) ? afterTag(bytes) : readerOf(bytes)) };
}

function readerOf(bytes: Buffer): Next | null {
  const text = bytes.toString('latin1');
  if (/^(RIFF|RF64|RIFX)/.test(text))
    return text.endsWith('WAVE') && !text.startsWith('RIFX') ? { step: wave() } : null;
  if (text.startsWith('fLaC')) return { step: flac(), keep: bytes.subarray(4) };
  if (text.startsWith('OggS')) return { step: ogg(), keep: bytes };
  if (text.slice(4, 8) === 'ftyp')
    return { step: mp4(), skip: Math.max(0, bytes.readUInt32BE(0) - bytes.length) };
  if (bytes.readUInt32BE(0) === 0x1a45dfa3) return webm(bytes);
  if (isAdts(bytes, 0)) return adts(bytes);
  return isMpeg(bytes) ? mpeg(bytes) : null;
}

function isTag(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 3) === 'ID3';
}

/** Passes over an ID3 tag, whose size is in seven bits of each byte. */
function afterTag(bytes: Buffer): Next {
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((bytes[at] ?? 0) & 0x7f), 0);
  const footer = (bytes[5] ?? 0) & 0x10 ? 10 : 0;
  const left = 10 + size + footer - bytes.length;
  // A tag of less than two bytes leaves some of what follows it here.
  return left >= 0
    ? { step: detect(), skip: left }
    : { step: detect(), keep: bytes.subarray(bytes.length + left) };
}
