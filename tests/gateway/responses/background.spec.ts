import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askResponses, fairResponseNano } from '#tests/gateway/responses/call';
import { closeBalanced, costOf } from '#tests/support/books';
import { ask, bearer, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

/** Price of a pictures model and of the model that uses it: see the tests' catalogue. */
const pictures = 40n * 5_000n + 8n * 20_000n + 272n * 40_000n;

describe('a response in the background (contract: jobs/jobs)', () => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function begun(model: string, fields: object = {}) {
    const asked = await askResponses(stack.url, key, { model, background: true, ...fields });
    expect(asked.answer.status).toBe(200);
    const response = jsonOf(asked.answer);
    return { ...asked, response, path: `/v1/responses/${String(response.id)}` };
  }
  const read = async (path: string) => jsonOf(await ask(stack.url, 'GET', path, bearer(key)));
  const settledCall = async (id: string) => {
    // Nobody but the gateway's own sweep may have asked: it does after 5 s.
    await eventually(async () => (await stack.call(id)).job?.cost !== null, true);
    return stack.call(id);
  };
  /** What a call and its job were charged, and how it was adjusted. */
  async function charges(id: string): Promise<bigint[]> {
    const { rows } = await stack.db.pool.query<{ amount: string }>(
      `SELECT (-cost_nano)::text AS amount FROM call WHERE id = $1 AND cost_nano <> 0
       UNION ALL SELECT (-cost_nano)::text FROM job WHERE call_id = $1 AND cost_nano <> 0
       UNION ALL SELECT amount_nano::text FROM ledger_line WHERE kind = 'adjustment' AND ref = $1::text`,
      [id],
    );
    return rows.map((row) => BigInt(row.amount));
  }

  describe.concurrent('is charged once, when it completed', () => {
    it('as the provider reports it, however often it is read', async () => {
      const { id, path, response } = await begun('test/job-short');
      expect(response).toMatchObject({ status: 'queued', usage: null });
      await eventually(async () => (await read(path)).status, 'completed');
      const last = await read(path);
      const owed = fairResponseNano({ usageReported: last.usage });
      expect(owed).toBeGreaterThan(0n);
      const call = await settledCall(id);
      expect(call).toMatchObject({ operation: 'responses.create', usageSource: 'reported' });
      expect(call.job).toMatchObject({ id: response.id, kind: 'response', state: 'completed' });
      expect(costOf(call)).toBe(owed);
      await read(path);
      expect(await charges(id)).toEqual([-owed]);
    });

    it('without anybody asking for it', async () => {
      const { id, path } = await begun('test/job-short');
      const call = await settledCall(id);
      const { usage } = await read(path);
      expect(costOf(call)).toBe(fairResponseNano({ usageReported: usage }));
    });

    it('at the price of its pictures’ own model', async () => {
      const { id, path } = await begun('test/job-short', {
        say: 'draw',
        tools: [{ type: 'image_generation', model: 'test/pictures' }],
      });
      const call = await settledCall(id);
      const { usage } = await read(path);
      expect(costOf(call)).toBe(fairResponseNano({ usageReported: usage }) + pictures);
      expect(call.flags).toEqual([]);
    });

    it('as far as its budget let it come', async () => {
      const { id, path } = await begun('test/job-short', {
        max_output_tokens: 16,
        directive: 'echo?tokens=90',
      });
      const call = await settledCall(id);
      const { status, usage } = await read(path);
      expect([status, record(usage).output_tokens]).toEqual(['incomplete', 16]);
      expect(costOf(call)).toBe(fairResponseNano({ usageReported: usage }));
    });

    it('by its own stream, to its end', async () => {
      const asked = await askResponses(stack.url, key, {
        model: 'test/job-stream',
        background: true,
        stream: true,
      });
      const told = asked.answer.body.toString();
      expect(told).toContain('event: response.completed');
      const call = await settledCall(asked.id);
      const end = /event: response.completed\ndata: (.*)\n/.exec(told)?.[1] ?? '{}';
      const { usage, id } = record(record(JSON.parse(end)).response);
      expect(costOf(call)).toBe(fairResponseNano({ usageReported: usage }));
      const resumed = await ask(
        stack.url,
        'GET',
        `/v1/responses/${String(id)}?stream=true&starting_after=3`,
        bearer(key),
      );
      const rest = resumed.body.toString();
      expect(told.endsWith(rest)).toBe(true);
      expect(rest.startsWith('event: ')).toBe(true);
      expect(await stack.call(headerOf(resumed, 'x-request-id') ?? '')).toMatchObject({
        operation: 'responses.retrieve',
        streamed: true,
        cost: '0',
      });
      expect(await charges(asked.id)).toEqual([-costOf(call)]);
    });

    it('after its client has left its stream', async () => {
      const { answer, id } = await askResponses(
        stack.url,
        key,
        { model: 'test/job-stream', background: true, stream: true, directive: 'pace/20/40' },
        { leaveWhen: (raw) => raw.includes('output_text.delta') },
      );
      expect(answer.status).toBe(200);
      const call = await settledCall(id);
      expect(call.usage.output).toBe(40);
      expect(await charges(id)).toEqual([-costOf(call)]);
    });
  });

  describe.concurrent('costs nothing', () => {
    it('when it failed', async () => {
      const { id, path } = await begun('test/job-fails');
      expect(await read(path)).toMatchObject({ status: 'failed' });
      expect((await settledCall(id)).job).toMatchObject({ state: 'failed', cost: '0' });
      expect(await charges(id)).toEqual([]);
    });

    it('when it was cancelled before it ran', async () => {
      const { id, path } = await begun('test/job-slow');
      const cancelled = await ask(stack.url, 'POST', `${path}/cancel`, bearer(key));
      expect(jsonOf(cancelled)).toMatchObject({ status: 'cancelled' });
      expect((await settledCall(id)).job).toMatchObject({ state: 'cancelled', cost: '0' });
      expect(await charges(id)).toEqual([]);
      expect(await read(path)).toMatchObject({ status: 'cancelled' });
    });
  });

  describe.concurrent('is charged its hold', () => {
    it.each([
      ['cancelled', 'POST', '/cancel'],
      ['deleted', 'DELETE', ''],
    ])('when it was %s while it ran, and nobody can tell what it used', async (_what, method, end) => {
      const { id, path } = await begun('test/job-runs');
      const hold = (await stack.call(id)).job?.hold;
      expect(hold).not.toBe('0');
      expect((await ask(stack.url, method, `${path}${end}`, bearer(key))).status).toBe(200);
      const call = await settledCall(id);
      expect(call.job).toMatchObject({ state: 'cancelled', cost: hold });
      expect(await charges(id)).toEqual([-costOf(call)]);
    });
  });

  it('counts against the tokens of its minute: what it will use is not known at the end of its create call', async () => {
    const { slug } = await stack.workspace({ rpm: 10_000 });
    const limited = (await stack.key(slug, { tpm: 5_000 })).key;
    const fields = { model: 'test/job-short', background: true, max_output_tokens: 4_000 };
    expect((await askResponses(stack.url, limited, fields)).answer.status).toBe(200);
    const { answer } = await askResponses(stack.url, limited, fields);
    expect(answer.status).toBe(429);
    expect(record(jsonOf(answer).error).code).toBe('api_key_tpm_exceeded');
  });
});
