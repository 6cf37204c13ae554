import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Maker, makers } from '#tests/gateway/contract/makers';
import { askAs, credentialOf } from '#tests/gateway/contract/speaker';
import { accountOf } from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { ask, jsonOf, seenOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, talk, type Wire } from '#tests/support/wire';

const released = { held: 0n, spent: 0n };

interface Owner {
  readonly key: string;
  readonly workspaceId: string;
}

describe('a job (contract: jobs/jobs)', () => {
  let stack: Stack;
  let stranger: Owner;
  beforeAll(async () => {
    stack = await joinStack();
    stranger = await own();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  /** A workspace with one slot. */
  async function own(): Promise<Owner> {
    const { slug, id } = await stack.workspace({ rpm: 10_000 });
    return { key: (await stack.key(slug, { concurrency: 1 })).key, workspaceId: id };
  }

  const id = (answer: Wire) => headerOf(answer, 'x-request-id') ?? '';
  const idle = (owner: Owner) => eventually(() => accountOf(stack, owner.workspaceId), released);

  /** What the provider sent in the one attempt of a call. */
  async function sentIn(callId: string): Promise<string> {
    const [attempt] = (await stack.call(callId)).attempts;
    const { sent = '' } = await stack.sandbox.ended(attempt?.upstreamRequestId ?? '');
    return Buffer.from(sent, 'base64').toString();
  }

  async function begun(maker: Maker, owner: Owner, how: string) {
    const asked = await askAs(maker, stack.url, owner.key, { directive: `${maker.plain}?${how}` });
    expect(asked.answer.status, asked.answer.body.toString()).toBe(200);
    return { ...asked, jobId: maker.idOf(jsonOf(asked.answer)) };
  }

  /** The same, of which its clients alone ask how it is: the gateway, which begins after 5 s, does in an hour. */
  async function begunUnpolled(...given: Parameters<typeof begun>) {
    const made = await begun(...given);
    const text = `UPDATE job SET next_poll_at = now() + interval '1 hour' WHERE call_id = $1 AND settled_at IS NULL`;
    await stack.db.pool.query(text, [made.id]);
    return made;
  }

  const read = (maker: Maker, owner: Owner, jobId: string, which = 0) =>
    ask(stack.url, 'GET', maker.reads(jobId)[which]?.[0] ?? '', credentialOf(maker, owner.key));

  /** Reads it until it is done. */
  async function finished(maker: Maker, owner: Owner, jobId: string): Promise<Wire> {
    let answer = await read(maker, owner, jobId);
    const isDone = async () => {
      answer = await read(maker, owner, jobId);
      return answer.status === 200 && maker.isDone(jsonOf(answer));
    };
    await eventually(isDone, true);
    return answer;
  }

  /** Everything that the ledger says of a call and its job, nano-dollars. */
  const spentBy = async (owner: Owner) => (await accountOf(stack, owner.workspaceId)).spent;

  describe.concurrent.each(makers)('that is begun: $name', (maker) => {
    it('passes byte for byte, holds its price until it is done, and is charged once', async () => {
      const owner = await own();
      const { jobId, ...asked } = await begunUnpolled(maker, owner, 'job_ms=400');
      const seen = await seenOf(stack, asked);
      expect(`${seen.path}${seen.query ? `?${seen.query}` : ''}`).toBe(maker.upstreamTarget);
      expect(seen.body).toBe(maker.received(asked.body, maker.model));
      expect(asked.answer.body.toString()).toBe(await sentIn(asked.id));
      expect((await accountOf(stack, owner.workspaceId)).held).toBeGreaterThan(0n);
      expect(await stack.call(asked.id)).toMatchObject({
        family: maker.family,
        operation: maker.operation,
        status: 200,
        streamed: false,
        endReason: 'completed',
        answeringModel: maker.model,
        attempts: [{ provider: 'sandbox', status: 200, upstreamRequestId: seen.id }],
        job: { id: jobId, settledAt: null },
      });
      const last = await finished(maker, owner, jobId);
      const owed = maker.owed(jsonOf(last));
      expect(owed).toBeGreaterThan(0n);
      await eventually(() => accountOf(stack, owner.workspaceId), { held: 0n, spent: owed });
      for (const [which, [, upstreamTarget, operation]] of maker.reads(jobId).entries()) {
        const answer = await read(maker, owner, jobId, which);
        expect(answer.body.toString()).toBe(await sentIn(id(answer)));
        const call = await stack.call(id(answer));
        expect(call).toMatchObject({ operation, status: 200, cost: '0', usageSource: 'none', lines: [] });
        const lines = await stack.sandbox.seen(upstreamTarget);
        expect(lines.some(({ path }) => path === upstreamTarget)).toBe(true);
      }
      expect(await stack.call(asked.id)).toMatchObject({
        usageSource: 'reported',
        job: { state: 'completed' },
      });
      expect(await spentBy(owner)).toBe(owed);
    });

    it('and fails costs nothing', async () => {
      const owner = await own();
      const { jobId, id: callId } = await begun(maker, owner, 'job_ms=0&job=failed');
      await finished(maker, owner, jobId);
      await idle(owner);
      expect(await stack.call(callId)).toMatchObject({ cost: '0', job: { state: 'failed', cost: '0' } });
    });

    it('by a client that disconnects before the answer is charged all the same', async () => {
      const owner = await own();
      const directive = 'fault/slow-first-byte?ms=100000&job_ms=0&tokens=5';
      const asked = await askAs(
        maker,
        stack.url,
        owner.key,
        { directive },
        { leaveAfter: stack.sandbox.begun },
      );
      expect(asked.answers).toEqual([]);
      await stack.sandbox.release(asked.mark);
      await eventually(async () => (await spentBy(owner)) > 0n, true);
    });
  });

  describe.concurrent.each(makers)('that does not begin: $name', (maker) => {
    it.each([400, 404, 429, 500])('since the provider answers %i, which passes', async (status) => {
      const owner = await own();
      const asked = await askAs(maker, stack.url, owner.key, { directive: `fault/status-${status}` });
      expect(asked.answer.status).toBe(status);
      expect(asked.answer.body.toString()).toBe(await sentIn(asked.id));
      const call = await stack.call(asked.id);
      expect(call).toMatchObject({ status, cost: '0', usageSource: 'none', job: null, errorCode: null });
      await idle(owner);
      await begun(maker, owner, 'job_ms=0&job=failed');
    });

    it.each(['fault/cut', 'fault/reset@1', 'fault/wrong-length', 'fault/close-before-headers'])(
      'since the answer does not come whole: %s',
      async (directive) => {
        const owner = await own();
        const asked = await askAs(maker, stack.url, owner.key, { directive });
        expect(expectRefusal(asked.answer, 'upstream_request_failed', owner.key)).toBe(asked.id);
        const call = await stack.call(asked.id);
        expect(call).toMatchObject({ status: 502, endReason: 'upstream_error', cost: '0', job: null });
        await idle(owner);
      },
    );

    it('because its client disconnects before the request was sent in full', async () => {
      const owner = await own();
      const mark = randomUUID();
      const body = maker.body(maker.model, mark);
      const headers = {
        ...maker.headers,
        ...credentialOf(maker, owner.key),
        'Content-Length': String(body.length + 100),
      };
      await talk(stack.url, requestText('POST', maker.target(maker.model), headers, body), {
        afterwards: (socket) => socket.end(),
      });
      await idle(owner);
      expect(await stack.sandbox.seen(mark)).toEqual([]);
    });
  });

  describe.concurrent.each(makers)('that is read: $name', (maker) => {
    /** A job whose first read meets a fault, and no other one does. */
    const meeting = (owner: Owner, fault: string, times = 1) =>
      begunUnpolled(maker, owner, `job_ms=0&tokens=5&get=${fault}?times=${times}%26one=${randomUUID()}`);

    it.each([401, 404, 429, 500])('gives the provider’s own error: %i', async (status) => {
      const owner = await own();
      const { jobId } = await meeting(owner, `fault/status-${status}`);
      const answer = await read(maker, owner, jobId);
      expect(answer.status).toBe(status);
      expect(answer.body.toString()).toBe(await sentIn(id(answer)));
      expect(await stack.call(id(answer))).toMatchObject({ status, cost: '0', usageSource: 'none' });
      await finished(maker, owner, jobId);
      await eventually(async () => (await accountOf(stack, owner.workspaceId)).held, 0n);
    });

    it.each(['fault/cut', 'fault/close-before-headers', 'fault/reset'])(
      'gives none that is not whole, and can be asked again: %s',
      async (fault) => {
        const owner = await own();
        // A kept connection that is dropped makes two attempts of one read.
        const { jobId } = await meeting(owner, fault, fault === 'fault/cut' ? 1 : 2);
        const answer = await read(maker, owner, jobId);
        expectRefusal(answer, 'upstream_request_failed', owner.key);
        expect(await stack.call(id(answer))).toMatchObject({ status: 502, cost: '0', usageSource: 'none' });
        const last = await finished(maker, owner, jobId);
        await eventually(() => spentBy(owner), maker.owed(jsonOf(last)));
      },
    );

    it('costs nothing when its reader disconnects, and the job is charged as usual', async () => {
      const owner = await own();
      const slow = `fault/slow-first-byte?ms=100000%26times=1%26one=${randomUUID()}`;
      const { jobId } = await begunUnpolled(maker, owner, `job_ms=0&tokens=5&get=${slow}`);
      const [target = ''] = maker.reads(jobId)[0] ?? [];
      const { answers } = await talk(stack.url, requestText('GET', target, credentialOf(maker, owner.key)), {
        leaveAfter: stack.sandbox.begun(jobId),
      });
      expect(answers).toEqual([]);
      const last = await finished(maker, owner, jobId);
      await eventually(() => accountOf(stack, owner.workspaceId), {
        held: 0n,
        spent: maker.owed(jsonOf(last)),
      });
      await eventually(async () => {
        const text =
          "SELECT end_reason, cost_nano::text FROM call WHERE workspace_id = $1 AND end_reason = 'client_gone'";
        return (await stack.db.pool.query(text, [owner.workspaceId])).rows;
      }, [{ end_reason: 'client_gone', cost_nano: '0' }]);
    });

    it('belongs to the workspace: others get not_found, and the provider is not asked', async () => {
      const owner = await own();
      const { jobId } = await begunUnpolled(maker, owner, 'job_ms=0&tokens=5');
      await finished(maker, owner, jobId);
      const before = await stack.sandbox.seen(jobId);
      for (const which of maker.reads(jobId).keys()) {
        expectRefusal(await read(maker, stranger, jobId, which), 'not_found', stranger.key);
      }
      expect(await stack.sandbox.seen(jobId)).toHaveLength(before.length);
    });
  });

  const removable = makers.filter(({ removal }) => removal !== null);
  it.concurrent.each(removable)('that is removed is gone: $name', async (maker) => {
    const owner = await own();
    const { jobId } = await begun(maker, owner, 'job_ms=0&tokens=5');
    const owed = maker.owed(jsonOf(await finished(maker, owner, jobId)));
    const [target = ''] = maker.reads(jobId)[0] ?? [];
    const { method = '', operation } = maker.removal ?? {};
    const answer = await ask(stack.url, method, target, credentialOf(maker, owner.key));
    expect([answer.status, answer.body.toString()]).toEqual([200, await sentIn(id(answer))]);
    expect(await stack.call(id(answer))).toMatchObject({ operation, cost: '0', usageSource: 'none' });
    expectRefusal(await read(maker, owner, jobId), 'not_found', owner.key);
    await eventually(() => accountOf(stack, owner.workspaceId), { held: 0n, spent: owed });
  });
});
