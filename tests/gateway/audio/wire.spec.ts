import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spooledUploads } from '#tests/gateway/images/spooled';
import { closeBalanced, costOf } from '#tests/support/books';
import { bearer } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, startStack } from '#tests/support/stack';
import { headerOf, requestText, talk } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';
import { tone } from '#tools/sandbox/audio/sound';

const mebibyte = 1024 * 1024;
const asked = { model: 'sandbox/narrator', voice: 'alloy', response_format: 'pcm' };

describe.each(['node', 'web'] as const)('audio over the %s lane', (lane) => {
  let stack: OwnStack;
  let key: string;
  beforeAll(async () => {
    stack = await startStack({ lane, env: { NODE_OPTIONS: '--max-semi-space-size=1' } });
    key = (await stack.key((await stack.workspace({ rpm: 10_000, tpm: null })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });
  const speech = (body: object) =>
    requestText(
      'POST',
      '/v1/audio/speech',
      { ...bearer(key), 'content-type': 'application/json' },
      JSON.stringify({ ...asked, ...body }),
    );
  const transcript = (file: Buffer) =>
    requestText(
      'POST',
      '/v1/audio/transcriptions',
      { ...bearer(key), 'content-type': 'multipart/form-data; boundary=edge' },
      formOf('edge', [
        { name: 'file', filename: 'a.wav', value: file },
        { name: 'model', value: 'sandbox/scribe' },
      ]),
    );

  it('reaches the client as it comes, all but its last byte (contract: families/speech)', async () => {
    const leave = new AbortController();
    const answer = await fetch(`${stack.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...bearer(key), 'content-type': 'application/json' },
      // Nothing follows its first four pieces of 4,800 bytes.
      body: JSON.stringify({ ...asked, input: 'Hang on, and hang on. [[fault/stall@4]]' }),
      signal: leave.signal,
    });
    const reader = answer.body?.getReader();
    const pieces: Uint8Array[] = [];
    for (let bytes = 0; bytes < 19_199; ) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) break;
      pieces.push(value);
      bytes += value.length;
    }
    expect(Buffer.concat(pieces).equals(Buffer.concat([...tone(400)]).subarray(0, -1))).toBe(true);
    leave.abort();
    await eventually(
      async () => (await stack.call(answer.headers.get('x-request-id') ?? '')).endReason,
      'client_gone',
    );
  });

  it('of a client that leaves costs its characters, once it is begun', async () => {
    const input = 'Leave [[fault/stall@2]]';
    const left = await talk(stack.url, speech({ input }), { leaveWhen: (raw) => raw.length > 6_000 });
    const id = left.answers[0] ? (headerOf(left.answers[0], 'x-request-id') ?? '') : '';
    const call = await stack.call(id);
    expect(call.endReason).toBe('client_gone');
    expect(costOf(call)).toBe(BigInt(input.length) * 15_000n);
  });

  it('of 100 MB is transcribed and leaves nothing on the disk, in less than 30 MiB of memory', async () => {
    const head = Buffer.from(readFileSync(new URL('../../unit/audio/samples/live.wav', import.meta.url)));
    const long = Buffer.concat([head, Buffer.alloc(100 * mebibyte, 1)]);
    const pid = stack.gateway().pid;
    const resident = () => {
      const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
      return Number(pages) * 4096;
    };
    await talk(stack.url, transcript(Buffer.concat([head, Buffer.alloc(10 * mebibyte, 1)])));
    const before = resident();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, resident());
    }, 20);
    const { answers } = await talk(stack.url, transcript(long));
    clearInterval(watch);
    expect(answers[0]?.status, answers[0]?.body.toString()).toBe(200);
    const call = await stack.call(answers[0] ? (headerOf(answers[0], 'x-request-id') ?? '') : '');
    // 8,000 samples of two bytes a second.
    expect(call.usage.audioMs).toBeGreaterThan(6_553_000);
    expect((most - before) / mebibyte, 'MiB').toBeLessThan(30);
    await eventually(() => spooledUploads(stack.dataDir).length, 0);
  });
});
