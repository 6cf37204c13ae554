import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectOf, reportedNano, wellAnswered } from '#tests/gateway/after-headers/dialects';
import { type Kind, kinds } from '#tests/gateway/after-headers/kinds';
import { offerAll } from '#tests/gateway/after-headers/offers';
import { type Pair, startPair } from '#tests/gateway/after-headers/provider';
import { expectBroken } from '#tests/gateway/contract/answer';
import { askAs, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import type { Asked } from '#tests/support/chat-call';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const ofText = speakers.filter(({ family }) => family !== 'images');
const rows = ofText.flatMap((speaker, place) =>
  kinds.flatMap((kind, at) =>
    !kind.when || kind.when(speaker)
      ? [{ speaker, kind, title: `${speaker.name}: ${kind.name}`, id: `${place}-${at}` }]
      : [],
  ),
);
type Row = (typeof rows)[number];

/** How a lane writes a torn answer, and when it sends its first byte. */
const ofLanes = /^(says a word and hangs up|begins with an error|sends 38 bytes of JSON and hangs up)$/;

const aloneOf = ({ speaker, kind }: Row) =>
  typeof kind.alone === 'string' ? kind.alone : kind.alone(speaker);

/** Of a response that was never shown, the error comes first. */
function framedAs(speaker: Speaker, sent: string): Speaker {
  const { frame } = speaker;
  if (!frame?.last || sent.includes('response.created')) return speaker;
  return { ...speaker, frame: { start: 'event: error\n', keys: frame.last, last: frame.keys } };
}

describe.each(['node', 'web'] as const)('behind the headers of a 200, on the %s lane', (lane) => {
  const own = lane === 'node' ? rows : rows.filter(({ kind }) => ofLanes.test(kind.name));
  const modelOf = ({ id }: Row) => `after-${lane}/headers-${id}`;
  const nameOf = ({ id }: Row) => `behind-${lane}-${id}.`;
  const [badId, goodId] = [`after-${lane}-bad`, `after-${lane}-good`];
  let pair: Pair;
  let stack: Stack;
  let key: string;

  beforeAll(async () => {
    pair = await startPair();
    stack = await joinStack(lane);
    await offerAll(stack, { [badId]: pair.bad, [goodId]: pair.good }, own.map(modelOf));
    for (const row of own) pair.misbehave(nameOf(row), row.speaker, row.kind);
    const { slug } = await stack.workspace({ credit: '1000' });
    key = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => pair.close());
  });

  const ask = (row: Row, headers: Readonly<Record<string, string>> = {}) =>
    askAs(row.speaker, stack.url, key, { model: modelOf(row), directive: nameOf(row) }, { headers });

  /** The bad provider's answer is the client's: nobody else was asked. */
  async function expectItsOwn(row: Row, asked: Asked): Promise<void> {
    const { speaker, kind } = row;
    const sent = kind.sent(speaker, dialectOf(speaker));
    const alone = aloneOf(row);
    expectAlone(speaker, alone, asked, sent);
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({
      status: alone === 'refused' ? 502 : 200,
      errorCode: alone === 'refused' ? 'upstream_request_failed' : null,
      endReason: 'upstream_error',
      provider: alone === 'refused' ? null : badId,
      attempts: [{ provider: badId, error: expect.stringMatching(kind.error) }],
    });
    expectPaid(speaker, kind, asked, costOf(call));
    expect(await linesOf(stack, asked.id)).toEqual(costOf(call) === 0n ? [] : [-costOf(call)]);
  }

  function expectAlone(speaker: Speaker, alone: string, { answer }: Asked, sent: string): void {
    const got = answer.body.toString();
    if (alone === 'refused') {
      expectRefusal(answer, 'upstream_request_failed', key);
      return;
    }
    expect([answer.status, headerOf(answer, 'x-answered-provider')]).toEqual([200, badId]);
    if (alone === 'as it came') {
      expect([got, answer.whole]).toEqual([sent, true]);
      return;
    }
    // Half an event that may have been the usage which the client did not ask for is none of its answer.
    const relayed = speaker.relayed ? sent.slice(0, sent.lastIndexOf('\n\n') + 2) : sent;
    expectBroken(framedAs(speaker, sent), got, relayed);
    expect(answer.whole).toBe(speaker.frame !== null);
  }

  /** Nothing for nothing; a word is paid by estimate beside an input that was told or can be estimated. */
  function expectPaid({ family, rates }: Speaker, { says }: Kind, { body }: Asked, nano: bigint): void {
    const tokens = (bytes: number) => BigInt(Math.ceil(bytes / 4));
    const input = family === 'messages' ? 10n : tokens(body.length);
    const owed = says === null ? 0n : input * rates.input + tokens(says.length) * rates.output;
    expect(nano).toBe(owed);
  }

  /** The good provider's answer whole, and nothing of the bad one's. */
  async function expectTheOther({ speaker, kind }: Row, asked: Asked, attempts: 1 | 2): Promise<void> {
    const { answer } = asked;
    expect([answer.status, answer.whole]).toEqual([200, true]);
    const sent = wellAnswered(speaker, asked.mark);
    expect(answer.body.toString()).toBe(speaker.relayed ? speaker.relayed(sent) : sent);
    expect(headerOf(answer, 'x-attempts')).toBe(String(attempts));
    const failed = { provider: badId, error: expect.stringMatching(kind.error) };
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({
      status: 200,
      endReason: 'completed',
      usageSource: 'reported',
      provider: goodId,
      attempts: [...(attempts === 2 ? [failed] : []), { provider: goodId, status: 200, error: null }],
    });
    expect(costOf(call)).toBe(reportedNano);
    expect(await linesOf(stack, asked.id)).toEqual([-reportedNano]);
  }

  describe.concurrent('a provider that', () => {
    it.each(own.map((row) => [row.title, row] as const))('%s', async (_, row) => {
      const { kind } = row;
      await expectItsOwn(row, await ask(row, { 'x-no-fallback': 'true' }));
      // Five failures in a row, this one included.
      for (let call = 2; call <= 5; call += 1) {
        const asked = await ask(row);
        await (kind.says === null ? expectTheOther(row, asked, 2) : expectItsOwn(row, asked));
      }
      await expectTheOther(row, await ask(row), kind.clientsFault ? 2 : 1);
      const good = (kind.says === null ? 4 : 0) + 1;
      expect(pair.asked(nameOf(row))).toEqual({ bad: kind.clientsFault ? 6 : 5, good });
    });
  });
});
