import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askResponses } from '#tests/gateway/responses/call';
import { closeBalanced, expectBalancedBooks } from '#tests/support/books';
import { codeOf, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import { type OwnStack, type Stack, startStack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

/** Input of sandbox/echo and of the tests' models, nano-dollars a token. */
const inputNano = 1_000n;

describe('a call that continues another one (contract: jobs/continued-tokens)', () => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const respond = async (fields: Parameters<typeof askResponses>[2]) => {
    const asked = await askResponses(stack.url, key, fields);
    expect(asked.answer.status).toBe(200);
    return asked;
  };
  const idIn = (text: string) => /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1] ?? '';
  const totalOf = async (callId: string) => {
    const { usage } = await stack.call(callId);
    return usage.input + usage.cachedInput + usage.cacheWrite5m + usage.cacheWrite1h + usage.output;
  };
  async function holdOf(callId: string): Promise<bigint> {
    await stack.call(callId);
    const { rows } = await stack.db.pool.query<{ hold: string }>(
      'SELECT hold_nano::text AS hold FROM call WHERE id = $1',
      [callId],
    );
    return BigInt(rows[0]?.hold ?? -1);
  }
  /** What is held beyond the hold of the same request about a call that used nothing. */
  async function heldFor(id: string): Promise<bigint> {
    const fields = { model: 'test/responses-drained', max_output_tokens: 50 };
    const asked = await respond({ ...fields, previous_response_id: id });
    const alone = await respond({ ...fields, metadata: { previous: '.'.repeat(id.length) } });
    const longer = Math.ceil(asked.body.length / 3) - Math.ceil(alone.body.length / 3);
    return (await holdOf(asked.id)) - (await holdOf(alone.id)) - BigInt(longer) * inputNano;
  }

  describe.concurrent('holds what that one read and wrote beside its own', () => {
    it('when it was answered whole', async () => {
      const { answer, id } = await respond({
        model: 'test/responses-drained',
        directive: 'echo?tokens=300',
      });
      const total = await totalOf(id);
      expect(total).toBeGreaterThan(300);
      expect(await heldFor(String(jsonOf(answer).id))).toBe(BigInt(total) * inputNano);
    });

    it('when it was streamed', async () => {
      const { answer, id } = await respond({
        model: 'test/responses-drained',
        stream: true,
        directive: 'echo?tokens=200',
      });
      const total = await totalOf(id);
      expect(total).toBeGreaterThan(200);
      expect(await heldFor(idIn(answer.body.toString()))).toBe(BigInt(total) * inputNano);
    });

    it('when it ran in the background, once that is known', async () => {
      const { answer, id } = await respond({ model: 'test/job-short', background: true });
      const response = String(jsonOf(answer).id);
      await eventually(async () => (await stack.call(id)).job?.state, 'completed');
      const total = await totalOf(id);
      expect(total).toBeGreaterThan(0);
      await eventually(() => heldFor(response), BigInt(total) * inputNano);
    });
  });

  it('cannot continue what two providers keep', async () => {
    const drained = await respond({ model: 'test/responses-drained' });
    const sandbox = await respond({ model: 'sandbox/echo' });
    const item = record([jsonOf(sandbox.answer).output].flat()[0]);
    const asked = await askResponses(stack.url, key, {
      model: 'sandbox/echo',
      previous_response_id: jsonOf(drained.answer).id,
      input: [
        { type: 'item_reference', id: item.id },
        { role: 'user', content: 'Go on' },
      ],
    });
    expect([asked.answer.status, codeOf(asked.answer)]).toEqual([400, 'model_not_allowed']);
    expect(jsonOf(asked.answer)).toMatchObject({
      error: { message: expect.stringContaining('two providers (drained and, for its item, sandbox)') },
    });
  });
});

describe('an answer whose job cannot be written down', () => {
  let stack: OwnStack;
  let key: string;
  beforeAll(async () => {
    stack = await startStack();
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
    await stack.db.pool.query('ALTER TABLE job ADD CONSTRAINT none CHECK (false)');
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
  });

  it.each([
    ['whole', false],
    ['as a stream', true],
  ])('is withheld: %s', async (_how, stream) => {
    const asked = await askResponses(stack.url, key, {
      model: 'test/job-stream',
      background: true,
      stream,
    });
    expect([asked.answer.status, codeOf(asked.answer)]).toEqual([500, 'local_quota_not_configured']);
    expect(asked.answer.body.toString()).not.toContain('resp_');
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ status: 500, cost: '0', attempts: [{ status: 200 }] });
    // The log comes by a pipe of its own.
    await eventually(() => stack.log().includes(asked.id), true);
    expect(stack.log()).toMatch(/response resp_\w+ was created at drained but could not be recorded/);
  });
});
