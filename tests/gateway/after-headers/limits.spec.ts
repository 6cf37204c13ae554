import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dialectOf,
  framed,
  type Piece,
  reportedNano,
  wellAnswered,
} from '#tests/gateway/after-headers/dialects';
import { offerAll } from '#tests/gateway/after-headers/offers';
import { give, headOf } from '#tests/gateway/after-headers/provider';
import { expectBroken } from '#tests/gateway/contract/answer';
import { askAs, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { givePolicy } from '#tests/gateway/routing/chains';
import {
  chunkOf,
  type RawProvider,
  type Script,
  startRawProvider,
} from '#tests/gateway/strange-answers/raw-provider';
import { closeBalanced, costOf } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const streams = speakers.filter(({ family, streamed }) => streamed && family !== 'images');
const [badId, goodId] = ['limits-bad', 'limits-good'];
const text = 'A first word';
/** Limits that must pass are short, others long: nothing here is measured. */
const [short, long] = [3_000, 120_000];

/** Stands in the last thing that a family says. */
const ends: Readonly<Record<string, string>> = {
  chat: 'data: [DONE]',
  responses: '"type":"response.completed"',
  messages: '"type":"message_stop"',
  'generate-content': '"finishReason"',
};

/** What keeps a connection busy and says nothing: comments, pings and empty events by turns. */
function noise({ family, framing }: Speaker, turn: number): string {
  if (framing === 'array') return '\n';
  if (turn % 2 === 0) return ': ping\n\n';
  if (family === 'messages') return 'event: ping\ndata: {"type":"ping"}\n\n';
  if (family === 'chat') return framed({ framing: 'events' }, dialectOf({ family }).opening);
  if (family === 'responses') return 'event: keepalive\ndata: {"type":"keepalive","sequence_number":9}\n\n';
  return ': still there\n\n';
}

describe.concurrent.each(streams)('while a provider only makes noise: $name', (speaker) => {
  const model = `limits/${streams.indexOf(speaker)}`;
  const { opening, says } = dialectOf(speaker);
  let provider: RawProvider;
  let stack: Stack;
  beforeAll(async () => {
    provider = await startRawProvider();
    stack = await joinStack();
    const places = { [badId]: `${provider.url}/bad`, [goodId]: `${provider.url}/good` };
    const own = Object.entries(places).map(([id, at]) => [`${id}-${streams.indexOf(speaker)}`, at] as const);
    await offerAll(stack, Object.fromEntries(own), [model]);
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => provider.close());
  });

  /** A key whose calls have these limits, ms. */
  async function keyWith(timeouts: Readonly<Record<string, number>>): Promise<string> {
    const { slug } = await stack.workspace();
    await givePolicy(stack, slug, {
      timeouts: { firstByteMs: long, firstWordMs: long, idleMs: long, ...timeouts },
    });
    return (await stack.key(slug)).key;
  }

  /** Says these, and then makes noise until it is left. */
  const noisy =
    (pieces: readonly Piece[]): Script =>
    (socket, request) => {
      if (request.startsWith('POST /v1/good/')) {
        give(socket, speaker, null, request);
        return;
      }
      socket.write(headOf(speaker));
      if (pieces.length > 0) socket.write(chunkOf(framed(speaker, pieces)));
      let turn = 0;
      const again = setInterval(() => socket.write(chunkOf(noise(speaker, turn++))), 20);
      socket.on('close', () => clearInterval(again));
    };

  const alone = { 'x-no-fallback': 'true' };
  const ask = (key: string, directive: string, headers: Readonly<Record<string, string>> = {}) =>
    askAs(speaker, stack.url, key, { model, directive }, { headers });

  it.each([
    ['only noise', []],
    ['an announcement and noise', opening],
  ] as const)(
    '%s is no first word: its limit passes, and the next provider is asked',
    async (what, pieces) => {
      provider.on(`[[${what}]]`, noisy(pieces));
      const key = await keyWith({ firstWordMs: short, holdMs: 60_000 });
      const asked = await ask(key, what);
      expect([asked.answer.status, asked.answer.whole]).toEqual([200, true]);
      const sent = wellAnswered(speaker, asked.mark);
      expect(asked.answer.body.toString()).toBe(speaker.relayed ? speaker.relayed(sent) : sent);
      const call = await stack.call(asked.id);
      expect(call).toMatchObject({
        endReason: 'completed',
        attempts: [{ error: 'first_word_timeout', possibleDuplicate: true }, { error: null }],
      });
      expect(costOf(call)).toBe(reportedNano);
    },
  );

  it('and no other provider is left, the stream ends as a broken one and costs nothing', async () => {
    provider.on('[[left alone]]', noisy(opening));
    const asked = await ask(await keyWith({ firstWordMs: short }), 'left alone', alone);
    expectCut(asked.answer.body.toString());
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({
      status: 200,
      endReason: 'timeout',
      attempts: [{ error: 'first_word_timeout' }],
    });
    expect(costOf(call)).toBe(0n);
  });

  it('and first events were held for as long as the policy says, they go out and nobody else is asked', async () => {
    provider.on('[[held]]', noisy(opening));
    const asked = await ask(await keyWith({ firstWordMs: short, holdMs: 10 }), 'held');
    expectCut(asked.answer.body.toString());
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ endReason: 'timeout', attempts: [{ error: 'first_word_timeout' }] });
    expect(costOf(call)).toBe(0n);
  });

  it('behind a word, the idle limit passes', async () => {
    provider.on('[[idle]]', noisy([...opening, says(text)]));
    const asked = await ask(await keyWith({ idleMs: short }), 'idle');
    expect(asked.answer.body.toString()).toContain(text);
    expectCut(asked.answer.body.toString());
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ endReason: 'timeout', attempts: [{ error: 'idle_timeout' }] });
    expect(costOf(call)).toBeGreaterThan(0n);
  });

  it('behind the end, a client that leaves has its answer', async () => {
    const whole = wellAnswered(speaker, 'complete');
    provider.on('[[complete]]', (socket) => {
      socket.write(headOf(speaker));
      socket.write(chunkOf(whole));
    });
    const asked = await askAs(
      speaker,
      stack.url,
      await keyWith({}),
      { model, directive: 'complete' },
      { leaveWhen: (raw) => raw.includes(ends[speaker.family] ?? 'no end') },
    );
    expect(asked.answer.whole, 'the provider has not ended').toBe(false);
    const call = await stack.call(headerOf(asked.answer, 'x-request-id') ?? '');
    expect(call).toMatchObject({
      endReason: 'completed',
      usageSource: 'reported',
      attempts: [{ error: null }],
    });
    expect(costOf(call)).toBe(reportedNano);
  });

  /** The family's own end of a broken stream, behind whatever had come. */
  function expectCut(got: string): void {
    if (speaker.frame === null) return;
    const at = got.lastIndexOf(speaker.frame.start);
    expect(at, 'its end is told').toBeGreaterThanOrEqual(0);
    // The noise of responses has a number of its own.
    if (speaker.family !== 'responses') expectBroken(speaker, got, got.slice(0, at));
  }
});
