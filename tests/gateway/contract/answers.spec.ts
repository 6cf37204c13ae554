import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAllowedHead, expectBroken, outputBytesOf } from '#tests/gateway/contract/answer';
import { type Case, casesOf } from '#tests/gateway/contract/cases';
import { askAs, estimatedNano, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { type Asked, seenOf } from '#tests/support/chat-call';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import type { EndLine } from '#tools/sandbox/truth-log';

describe('what a provider answers (contract: request/passthrough, money/charge)', () => {
  let stack: Stack;
  let workspace: string;
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ credit: '5000', rpm: 10_000, tpm: null })).slug;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  /**
   * Keys with one slot each, and after which case. A case takes one that another has left: that it is served shows that
   * the slot was free.
   */
  const left: { readonly key: string; readonly after: string }[] = [];
  const newKey = async () => ({
    key: (await stack.key(workspace, { concurrency: 1 })).key,
    after: 'nothing',
  });

  async function check(speaker: Speaker, wanted: Case): Promise<void> {
    const { key, after } = left.shift() ?? (await newKey());
    const asked = await askAs(speaker, stack.url, key, wanted);
    const { answer } = asked;
    expect(answer.body.toString(), `the slot after ${after}`).not.toContain('api_key_concurrency_exceeded');
    await checkAnswer(speaker, wanted, asked, key);
    left.push({ key, after: `${speaker.name}, ${wanted.directive}` });
  }

  async function checkAnswer(speaker: Speaker, wanted: Case, asked: Asked, key: string): Promise<void> {
    const { answer } = asked;
    const seen = await seenOf(stack, asked);
    const end = unpacked(await stack.sandbox.ended(seen.id), wanted);
    const sent = Buffer.from(end.sent ?? '', 'base64').toString();
    const call = await stack.call(asked.id);

    expect(`${seen.path}${seen.query ? `?${seen.query}` : ''}`).toBe(speaker.upstreamTarget);
    expect(seen.body).toBe(speaker.received(asked.body, speaker.model));

    if (wanted.unusable) {
      expect(expectRefusal(answer, 'upstream_request_failed', key)).toBe(asked.id);
      expect(call).toMatchObject({
        status: 502,
        errorCode: 'upstream_request_failed',
        endReason: 'upstream_error',
        usageSource: 'none',
        cost: '0',
        attempts: [{ provider: 'sandbox', status: 200, upstreamRequestId: seen.id }],
      });
      expect(await linesOf(stack, asked.id)).toEqual([]);
      return;
    }
    expect(answer.status).toBe(wanted.status ?? 200);
    expectAllowedHead(answer, stack.sandbox.key);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'request-id': asked.id,
      'x-upstream-request-id': seen.id,
      'x-answered-model': speaker.model,
      'x-answered-provider': 'sandbox',
      'x-attempts': '1',
      'x-ratelimit-limit-requests': '10000',
      ...wanted.headers,
    });
    const due = speaker.relayed ? speaker.relayed(sent) : sent;
    if (wanted.broke) expectBroken(speaker, answer.body.toString(), due);
    else expect(answer.body.toString()).toBe(due);
    expect(answer.whole, 'the framing ends as announced').toBe(!wanted.broke || speaker.frame !== null);

    const charged = wanted.charged ?? 'reported';
    expect(call).toMatchObject({
      family: speaker.family,
      operation: speaker.operation,
      status: answer.status,
      errorCode: null,
      streamed: speaker.streamed,
      endReason: wanted.end ?? 'completed',
      usageSource: charged === 'broken' ? speaker.broken.usageSource : charged,
      requestedModel: speaker.model,
      answeringModel: speaker.model,
      provider: 'sandbox',
      flags: expect.arrayContaining([...(wanted.flags ?? [])]),
      attempts: [{ provider: 'sandbox', status: answer.status, upstreamRequestId: seen.id }],
    });
    const owed = {
      reported: () => speaker.fair(end),
      broken: () => brokenNano(speaker, end, asked.body, outputBytesOf(speaker, answer)),
      estimated: () => estimatedNano(speaker, asked.body, outputBytesOf(speaker, answer)),
      none: () => 0n,
    }[charged]();
    expect(costOf(call)).toBe(owed);
    expect(await linesOf(stack, asked.id)).toEqual(owed === 0n ? [] : [-owed]);
  }

  describe.each(speakers)('passes and is charged as it was sent: $name', (speaker) => {
    describe.concurrent('when it is', () => {
      it.each(casesOf(speaker))('$directive', (wanted) => check(speaker, wanted));
    });
  });

  it('leaves the slot of its key free, after the last cases too', async () => {
    const [speaker] = speakers;
    if (!speaker) throw new Error('there is no family');
    expect(left.length).toBeGreaterThan(0);
    for (const { key, after } of left)
      expect((await askAs(speaker, stack.url, key)).answer.status, after).toBe(200);
  });
});

/** What was sent, as it reads. */
function unpacked(end: EndLine, { packed }: Case): EndLine {
  const bytes = Buffer.from(end.sent ?? '', 'base64');
  return packed ? { ...end, sent: gunzipSync(bytes).toString('base64') } : end;
}

function brokenNano(speaker: Speaker, end: EndLine, body: string, outputBytes: number): bigint {
  return speaker.broken.nano?.(end, outputBytes) ?? estimatedNano(speaker, body, outputBytes);
}
