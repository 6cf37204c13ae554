import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wellAnswered } from '#tests/gateway/after-headers/dialects';
import { offerAll } from '#tests/gateway/after-headers/offers';
import { give, headOf } from '#tests/gateway/after-headers/provider';
import { credentialOf, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import {
  chunkOf,
  lastChunk,
  type RawProvider,
  startRawProvider,
} from '#tests/gateway/strange-answers/raw-provider';
import { closeBalanced } from '#tests/support/books';
import { type Stack, startStack } from '#tests/support/stack';

const model = 'signs/model';
const signs: Readonly<Record<string, string>> = {
  chat: ': keep-alive\n\n',
  responses: ': keep-alive\n\n',
  messages: 'event: ping\ndata: {"type": "ping"}\n\n',
};
const streams = speakers.filter(({ family, framing }) => framing === 'events' && family in signs);

describe('a silent stream (contract: routing/sign-of-life)', () => {
  let provider: RawProvider;
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    provider = await startRawProvider();
    stack = await startStack({ env: { SIGN_OF_LIFE_SECONDS: '1' } });
    await offerAll(stack, { silent: `${provider.url}/bad`, good: `${provider.url}/good` }, [model]);
    key = (await stack.key((await stack.workspace({ rpm: null })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => provider.close());
  });

  /**
   * Asks, waits for two signs of life, lets the provider go on, and gives all that the client got.
   * @param then what the silent provider does after the signs.
   */
  async function asked(
    speaker: Speaker,
    mark: string,
    then: (socket: Socket) => void,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const silent = Promise.withResolvers<Socket>();
    provider.on(mark, (socket, request) => {
      if (request.startsWith('POST /v1/good/')) give(socket, speaker, null, request);
      else {
        socket.write(headOf(speaker));
        silent.resolve(socket);
      }
    });
    const answer = await fetch(stack.url + speaker.target(model), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...speaker.headers,
        ...credentialOf(speaker, key),
        ...headers,
      },
      body: speaker.body(model, mark),
    });
    const sign = signs[speaker.family] ?? '';
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) {
      const before = text;
      text += decoder.decode(piece, { stream: true });
      const enough = sign + sign;
      if (text.startsWith(enough) && !before.startsWith(enough)) then(await silent.promise);
    }
    const rest = text.replaceAll(sign, '');
    return { answer, rest, signed: text.startsWith(sign + sign) };
  }

  const markOf = () => `Say ${crypto.randomUUID()}`;
  const callOf = (answer: Response) => stack.call(answer.headers.get('x-request-id') ?? '');

  describe.concurrent.each(streams)('$name', (speaker) => {
    const relayed = (mark: string) => {
      const sent = wellAnswered(speaker, mark.slice('Say '.length));
      return speaker.relayed ? speaker.relayed(sent) : sent;
    };

    it('shows signs of life, and then its answer', async () => {
      const mark = markOf();
      const sent = wellAnswered(speaker, mark.slice('Say '.length));
      const got = await asked(speaker, mark, (socket) =>
        socket.write(Buffer.concat([chunkOf(sent), Buffer.from(lastChunk)])),
      );
      expect([got.answer.status, got.signed, got.rest]).toEqual([200, true, relayed(mark)]);
      expect(await callOf(got.answer)).toMatchObject({
        status: 200,
        endReason: 'completed',
        provider: 'silent',
      });
    });

    it('is answered by the next provider when its own breaks after signs of life', async () => {
      const mark = markOf();
      const got = await asked(speaker, mark, (socket) => socket.destroy());
      expect([got.answer.status, got.signed, got.rest]).toEqual([200, true, relayed(mark)]);
      expect(got.answer.headers.get('x-answered-provider')).toBeNull();
      expect(await callOf(got.answer)).toMatchObject({ endReason: 'completed', provider: 'good' });
    });

    it('ends with its family’s error event when no provider is left, and costs nothing', async () => {
      const mark = markOf();
      const alone = { 'x-no-fallback': 'true' };
      const got = await asked(speaker, mark, (socket) => socket.destroy(), alone);
      expect([got.answer.status, got.signed]).toEqual([200, true]);
      expect(got.rest).toContain('"code":"upstream_request_failed"');
      expect(await callOf(got.answer)).toMatchObject({
        status: 200,
        errorCode: 'upstream_request_failed',
        endReason: 'upstream_error',
        cost: '0',
      });
    });
  });
});
