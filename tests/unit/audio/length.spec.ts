import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AudioLength, lengthOf } from '#lib/core/audio/length';
import { seed } from '#tests/support/run/draws';

/** Half a second of a tone, as ffmpeg writes it. */
const sample = (name: string) => readFileSync(new URL(`samples/${name}`, import.meta.url));
const files = [
  'fragments.mp4',
  'live.wav',
  'live.webm',
  'tone.aac',
  'tone.flac',
  'tone.m4a',
  'tone.mp3',
  'tone.ogg',
  'tone.opus',
  'tone.wav',
  'tone.webm',
] as const;

function measure(bytes: Uint8Array, step: (at: number) => number = () => bytes.length, raw = false) {
  const length = new AudioLength(raw);
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + Math.max(1, step(at)));
    length.push(bytes.subarray(at, end));
    at = end;
  }
  return length.ms;
}

/** Numbers from 0 to 1, the same in every run. */
function draws(): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe('the length of a file (contract: money/audio-length)', () => {
  it.each(files.filter((name) => name !== 'fragments.mp4'))('is found in %s', (name) => {
    const ms = measure(sample(name)) ?? 0;
    // Encoders fill up their last frames.
    expect(ms).toBeGreaterThanOrEqual(480);
    expect(ms).toBeLessThan(750);
  });

  it('is found behind a tag of ID3', () => {
    const tag = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x02\0', 'latin1'), Buffer.alloc(256)]);
    expect(measure(Buffer.concat([tag, sample('tone.mp3')]))).toBe(measure(sample('tone.mp3')));
  });

  it.each(files)('is the same however the bytes of %s come', (name) => {
    const bytes = sample(name);
    const random = draws();
    const whole = measure(bytes);
    expect(measure(bytes, () => 1)).toBe(whole);
    expect(measure(bytes, () => 1 + Math.floor(random() * 60))).toBe(whole);
  });

  it('is read piece by piece from a file on the disk', async () => {
    async function* pieces() {
      yield sample('tone.wav').subarray(0, 50);
      yield sample('tone.wav').subarray(50);
    }
    expect(await lengthOf(pieces())).toBe(500);
  });

  it.each([
    ['MP4 in fragments', sample('fragments.mp4')],
    ['text', Buffer.from('These are words and no sound at all.')],
    ['nothing', Buffer.alloc(0)],
    ['a file that ends inside its first header', Buffer.from('RIFF')],
    ['WAVE without a rate', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEdata\0\0\0\0'), Buffer.alloc(100)])],
    ['MP3 with much else behind it', Buffer.concat([sample('tone.mp3'), Buffer.alloc(70_000, 7)])],
    ['a page of HTML', Buffer.from('<!doctype html><title>Bad gateway</title>')],
  ])('is not known of %s', (_name, bytes) => {
    expect(measure(bytes)).toBeNull();
  });

  it('of bare samples is that of 24,000 a second, of 16 bits', () => {
    expect(measure(Buffer.alloc(60_000), undefined, true)).toBe(1_250);
  });

  it('is never negative, infinite or an error, whatever bytes a stranger sends', () => {
    const random = draws();
    for (let round = 0; round < 400; round += 1) {
      const bytes = Buffer.from(sample(files[round % files.length] ?? 'tone.mp3'));
      for (let changed = 0; changed < 12; changed += 1) {
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      }
      const cut = bytes.subarray(0, Math.floor(random() * bytes.length));
      const ms = measure(cut, () => 1 + Math.floor(random() * 100));
      expect(ms === null || (Number.isSafeInteger(ms) && ms > 0)).toBe(true);
    }
  });

  it('is not looked for without end in a file of nothing but headers', () => {
    // Elements of WebM without content: two bytes each.
    const empty = Buffer.alloc(16 * 1024 * 1024);
    for (let at = 0; at < empty.length; at += 2) empty.writeUInt16BE(0xec80, at);
    const file = Buffer.concat([Buffer.from('1a45dfa380', 'hex'), empty]);
    expect(measure(file, () => 64 * 1024)).toBeNull();
  });
});
