import { randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ContentCopy, MOST_KEPT } from '#lib/gateway/content/copy';
import { restMs } from '#lib/gateway/content/pure/rest-ms';
import { mayKeep } from '#lib/gateway/content/pure/which';
import { omittedData, withoutData } from '#lib/gateway/content/pure/without-data';
import { contentOf, openContent, sealContent as seal } from '#lib/gateway/content/stored';
import { createIds } from '#lib/platform/ids';
import { sealBytes } from '#lib/platform/sealing';

const owner = { workspaceId: 'w', callId: 'c' };
const key = randomBytes(32);
const sealContent = async (of: typeof owner, sides: Parameters<typeof contentOf>[0], sealingKey: Buffer) =>
  seal(of, await contentOf(sides), sealingKey);

function room(free: number) {
  const state = { free };
  return {
    state,
    take: (bytes: number) => {
      if (bytes > state.free) return false;
      state.free -= bytes;
      return true;
    },
    give: (bytes: number) => {
      state.free += bytes;
    },
  };
}

describe('which calls are kept (contract: content/which)', () => {
  const all = { mode: 'all', share: 100, days: 7 } as const;

  test.each([
    ['nothing is set', null, undefined, false],
    ['all calls are kept', all, undefined, true],
    ['the request says off', all, ' OFF ', false],
    ['the request says something else', all, 'on', true],
  ])('%s', (_, rule, header, kept) => {
    expect(mayKeep(rule, '01a21e11-efa5-7353-870f-47fb54b68e0f', header)).toBe(kept);
  });

  test('a share of 20 percent keeps about a fifth of the calls', () => {
    const ids = createIds({ now: () => 1_795_800_000_000, mono: () => 0 });
    const kept = Array.from({ length: 5_000 }, () => ids.newId() ?? '').filter((id) =>
      mayKeep({ ...all, share: 20 }, id, undefined),
    );
    expect(kept.length).toBeGreaterThan(850);
    expect(kept.length).toBeLessThan(1_150);
  });
});

describe('work beside the calls (contract: content/beside)', () => {
  test.each([
    [0, 0],
    [0.5, 20],
    [0.95, 380],
    [1, 1_000],
  ])('rests after 20 ms while calls take the share %d of the time, %d ms', (busy, ms) => {
    expect(restMs(20, busy)).toBeCloseTo(ms);
  });
});

describe('a copy (contract: content/what)', () => {
  test('has the first MiB of each side and says that there was more', () => {
    const copy = new ContentCopy(room(10 * MOST_KEPT), 'application/json', Buffer.alloc(MOST_KEPT + 1, 'a'));
    copy.start(200, ['content-type', 'text/event-stream']);
    copy.write(Buffer.alloc(MOST_KEPT, 'b'));
    expect(copy.answer()).toMatchObject({ contentType: 'text/event-stream', cut: false });
    copy.write(Buffer.from('c'));
    expect(copy.request()).toMatchObject({ cut: true });
    expect(copy.request().data).toHaveLength(MOST_KEPT);
    expect(copy.answer()).toMatchObject({ cut: true });
    expect(copy.answer().data).toHaveLength(MOST_KEPT);
  });

  test('is lost as a whole when there is no room, and gives all of its memory back once', () => {
    const memory = room(10);
    const copy = new ContentCopy(memory, '', Buffer.from('12345678'));
    copy.write(Buffer.from('123'));
    expect(copy.lost).toBe(true);
    copy.write(Buffer.from('1'));
    copy.free();
    copy.free();
    expect(memory.state.free).toBe(10);
  });

  test('does not change when the memory of the call is used again', () => {
    const body = Buffer.from('{"a":1}');
    const copy = new ContentCopy(room(100), '', body);
    body.fill(0);
    expect(copy.request().data.toString()).toBe('{"a":1}');
  });
});

describe('data in Base64 (contract: content/what)', () => {
  const data = randomBytes(3_000);

  test.each([
    ['plain', data.toString('base64')],
    ['for URLs', data.toString('base64url')],
    ['with escaped slashes', data.toString('base64').replaceAll('/', '\\/')],
  ])('is replaced by its size and hash: %s', (_, text) => {
    const written = withoutData(`{"url":"data:image/png;base64,${text}","text":"hello"}`);
    const { url, text: said } = JSON.parse(written);
    const [type, rest] = url.split(',');
    expect([type, said]).toEqual(['data:image/png;base64', 'hello']);
    expect(omittedData(rest)).toMatchObject({ bytes: 3_000 });
  });

  test('is replaced at the end of a body that was cut', () => {
    expect(withoutData(`{"data":"${data.toString('base64')}`)).toMatch(/"omitted-3000-bytes-/);
  });

  test.each([
    ['a short one', randomBytes(1_500).toString('base64')],
    ['one long letter', 'a'.repeat(5_000)],
    ['words', 'lorem ipsum '.repeat(500)],
  ])('stays: %s', (_, text) => {
    expect(withoutData(text)).toBe(text);
  });

  test('is looked for in linear time, also in text of many runs that are just too short', () => {
    const short = 'abcdefghijklmnopqrstuvwxyz'.repeat(106).slice(0, 2_731);
    for (const text of [`${short} `.repeat(384), `${'\\/'.repeat(2_731)} `.repeat(190)]) {
      expect(withoutData(text)).toBe(text);
    }
    const found = withoutData(`${short}== ${short}Z==${short}`);
    expect(found).toMatch(/^[a-z]+== omitted-2049-bytes-sha256-[0-9a-f]{64}[a-z]+$/);
  });
});

describe('stored content (contract: content/sealed)', () => {
  const side = (text: string) => ({
    contentType: 'application/json',
    coding: '',
    data: Buffer.from(text),
    cut: false,
  });

  test('comes back as it was, and shows nothing in the clear', async () => {
    const sealed = await sealContent(owner, { request: side('{"q":"canary"}'), answer: side('ünï') }, key);
    expect(sealed.includes('canary')).toBe(false);
    expect(await openContent(owner, sealed, key)).toEqual({
      request: { contentType: 'application/json', text: '{"q":"canary"}', bytes: 14, cut: false },
      answer: { contentType: 'application/json', text: 'ünï', bytes: 5, cut: false },
    });
  });

  test.each([0, 10, 3_000, 200_000])(
    'of %d lines comes back as it was, with and without a text',
    async (lines) => {
      const text = 'a line, ünï and 🦊\n'.repeat(lines);
      const asked = { contentType: 'text/plain', text, bytes: 1, cut: true };
      for (const answer of [asked, { ...asked, text: null }, { ...asked, text: '\n{"request":1}' }]) {
        for (const content of [
          { request: asked, answer },
          { request: answer, answer: asked },
        ]) {
          expect(await openContent(owner, await seal(owner, content, key), key)).toEqual(content);
        }
      }
    },
  );

  test('that was written as one piece of JSON can still be read', async () => {
    const asked = { contentType: 'text/plain', text: 'two\nlines', bytes: 9, cut: false };
    const content = { request: asked, answer: { ...asked, text: null } };
    const packed = zstdCompressSync(JSON.stringify(content));
    const sealed = sealBytes(packed, key, 'call-content:w/c');
    expect(await openContent(owner, sealed, key)).toEqual(content);
  });

  test('cannot be opened for another call or workspace, by another key, or when it was altered', async () => {
    const sealed = await sealContent(owner, { request: side('a'), answer: side('b') }, key);
    await expect(openContent({ ...owner, callId: 'd' }, sealed, key)).rejects.toThrow(/cannot be decrypted/);
    await expect(openContent({ ...owner, workspaceId: 'v' }, sealed, key)).rejects.toThrow();
    await expect(openContent(owner, sealed, randomBytes(32))).rejects.toThrow();
    sealed[20] = (sealed[20] ?? 0) ^ 1;
    await expect(openContent(owner, sealed, key)).rejects.toThrow();
  });

  test('is decompressed, also if the answer was cut; what cannot be decompressed has no text', async () => {
    const zipped = gzipSync('{"answer":"hello"}');
    const kept = async (data: Buffer) =>
      (
        await openContent(
          owner,
          await sealContent(owner, { request: side(''), answer: { ...side(''), coding: 'gzip', data } }, key),
          key,
        )
      ).answer;
    expect((await kept(zipped)).text).toBe('{"answer":"hello"}');
    expect((await kept(zipped.subarray(0, -6))).text).toContain('{"answer"');
    expect((await kept(Buffer.from('no gzip'))).text).toBeNull();
    // A bomb: 100 MiB of zeros.
    expect((await kept(gzipSync(Buffer.alloc(100 * MOST_KEPT)))).text).toBeNull();
  });

  test('binary data has no text, and a character that was cut is left out', async () => {
    const kept = async (data: Buffer, cut: boolean) =>
      (
        await openContent(
          owner,
          await sealContent(owner, { request: side(''), answer: { ...side(''), data, cut } }, key),
          key,
        )
      ).answer.text;
    expect(await kept(Buffer.from([0xff, 0xd8, 0xff]), false)).toBeNull();
    expect(await kept(Buffer.from('hä').subarray(0, 2), true)).toBe('h');
  });
});
