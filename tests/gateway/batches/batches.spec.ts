import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { begin, costOf, lineOf, linesOf, newClient, upload } from '#tests/gateway/batches/stage';
import { tell } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { setPolicy } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('batches', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const jobOf = async (id: string) =>
    (
      await stack.db.pool.query(
        `SELECT call_id AS "callId", state, settled_at IS NOT NULL AS settled, cost_nano::text AS cost, hold_nano::text AS hold, flags
         FROM job WHERE upstream_id = $1`,
        [id],
      )
    ).rows[0];
  const settled = (id: string) => eventually(async () => (await jobOf(id))?.settled, true);

  it('run the lines of a file, each charged by its result at the price of batches', async () => {
    const own = await newClient(stack);
    const file = await upload(own, [...linesOf(20), lineOf('refused', { messages: 'none' })]);
    expect(file).toMatchObject({ object: 'file', purpose: 'batch' });
    const made = await begin(own, file.id);
    expect(made).toMatchObject({ object: 'batch', input_file_id: file.id });
    const held = BigInt((await jobOf(made.id)).hold);
    await settled(made.id);
    const seen = await own.client.batches.retrieve(made.id);
    expect(seen).toMatchObject({
      status: 'completed',
      request_counts: { total: 21, completed: 20, failed: 1 },
    });
    const results = await (await own.client.files.content(seen.output_file_id ?? '')).text();
    const job = await jobOf(made.id);
    expect(BigInt(job.cost)).toBe(costOf(results));
    expect(BigInt(job.cost)).toBeGreaterThan(0n);
    expect(held).toBeGreaterThan(BigInt(job.cost));
    const { rows } = await stack.db.pool.query(
      'SELECT custom_id, status, cost_nano::text AS cost FROM batch_line WHERE call_id = $1 ORDER BY custom_id',
      [job.callId],
    );
    expect(rows).toHaveLength(21);
    expect(rows.at(-1)).toEqual({ custom_id: 'refused', status: 400, cost: '0' });
    const listed = [];
    for await (const one of own.client.files.list()) listed.push(one.purpose);
    expect(listed.sort()).toEqual(['batch', 'batch_output', 'batch_output']);
  });

  it('are in the log as the call that created them, with the sums of their lines', async () => {
    const own = await newClient(stack);
    const file = await upload(own, linesOf(3));
    const made = await begin(own, file.id);
    await settled(made.id);
    const { callId } = await jobOf(made.id);
    const call = await stack.call(callId);
    expect(call).toMatchObject({ operation: 'batches.create', answeringModel: 'sandbox/echo' });
    expect(call.usage.output).toBeGreaterThan(0);
    expect(call.job).toMatchObject({ kind: 'batch', state: 'completed' });
  });

  it('charge only what was answered: expired and cancelled lines are free', async () => {
    const own = await newClient(stack);
    const file = await upload(own, linesOf(10));
    const expired = await begin(own, file.id, 'echo?job_ms=0&answered=4');
    const cancelled = await begin(own, file.id, 'echo?job_ms=600000');
    expect(await own.client.batches.cancel(cancelled.id)).toMatchObject({ status: 'cancelling' });
    const failed = await begin(own, file.id, 'echo?job_ms=0&job=failed');
    await Promise.all([expired, cancelled, failed].map(({ id }) => settled(id)));
    for (const [batch, status, answered] of [
      [expired, 'expired', 4],
      [cancelled, 'cancelled', 5],
    ] as const) {
      const seen = await own.client.batches.retrieve(batch.id);
      expect(seen).toMatchObject({ status, request_counts: { completed: answered } });
      const results = await (await own.client.files.content(seen.output_file_id ?? '')).text();
      const job = await jobOf(batch.id);
      expect(results.trim().split('\n')).toHaveLength(answered);
      expect(BigInt(job.cost)).toBe(costOf(results));
      const { rows } = await stack.db.pool.query(
        'SELECT count(*)::int AS lines, count(*) FILTER (WHERE cost_nano = 0)::int AS free FROM batch_line WHERE call_id = $1',
        [job.callId],
      );
      expect(rows).toEqual([{ lines: 10, free: 10 - answered }]);
    }
    expect(await jobOf(failed.id)).toMatchObject({ state: 'failed', cost: '0' });
  });

  it('are listed by the gateway from what is the workspace’s own', async () => {
    const [own, other] = [await newClient(stack), await newClient(stack)];
    const file = await upload(own, linesOf(1));
    const ids = [(await begin(own, file.id)).id, (await begin(own, file.id)).id];
    const listed = [];
    for await (const one of own.client.batches.list({ limit: 1 })) listed.push(one.id);
    expect(listed).toEqual(ids.reverse());
    expect((await other.client.batches.list()).data).toEqual([]);
    await Promise.all(ids.map(settled));
  });

  it('do not lose their results before they are charged', async () => {
    const own = await newClient(stack);
    const made = await begin(own, (await upload(own, linesOf(2))).id, 'echo?job_ms=0');
    const seen = await own.client.batches.retrieve(made.id);
    const job = await jobOf(made.id);
    if (!job.settled) {
      const refused = own.client.files.delete(seen.output_file_id ?? '');
      await expect(refused).rejects.toMatchObject({ status: 409, code: 'results_not_charged' });
    }
    await settled(made.id);
    expect(BigInt((await jobOf(made.id)).cost)).toBeGreaterThan(0n);
    expect(await own.client.files.delete(seen.output_file_id ?? '')).toMatchObject({ deleted: true });
  });

  describe('are refused before anything is sent or held (contract: batches/bad-line, batches/create)', () => {
    it.each([
      [
        'a wrong line of many, by its number',
        () => [...linesOf(50), '{"custom_id":"x"', ...linesOf(1)],
        /^400 Line 51 of the file: /,
      ],
      [
        'a line with an unknown model',
        () => [lineOf('a'), lineOf('b', { model: 'nobody/none' })],
        /^400 Line 2 of the file: All lines/,
      ],
      [
        'an unknown model',
        () => [lineOf('a', { model: 'nobody/none' })],
        /^400 Line 1 of the file: Model "nobody\/none" is unknown/,
      ],
      ['the same custom id twice', () => [lineOf('a'), lineOf('a')], /^400 Line 2 .*"custom_id"/],
      ['a streamed line', () => [lineOf('a', { stream: true })], /^400 Line 1 .*"stream"/],
      ['a service tier', () => [lineOf('a', { service_tier: 'priority' })], /^400 Line 1 .*service_tier/],
      ['another path', () => [lineOf('a', {}, '/v1/images/generations')], /^400 Line 1 .*"url"/],
      [
        'a line that names another workspace’s state',
        () => [
          lineOf('a', {
            messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-x' } }] }],
          }),
        ],
        /^404 Line 1 .*no file/,
      ],
      [
        'a model without a batch price',
        () => [lineOf('a', { model: 'sandbox/mini' })],
        /^400 Model sandbox\/mini cannot be called in batches/,
      ],
      ['no lines', () => ['', ''], /^400 The file has no lines/],
    ])('%s', async (_, lines, message) => {
      const own = await newClient(stack);
      const refused = await upload(own, lines()).catch((error: Error) => error);
      expect(refused).toMatchObject({ message: expect.stringMatching(message) });
      expect(await own.client.files.list()).toMatchObject({ data: [] });
    });

    it('a file that is no file of requests, another endpoint, and a key that allows less', async () => {
      const own = await newClient(stack);
      const plain = await upload(own, linesOf(1), 'user_data');
      await expect(begin(own, plain.id)).rejects.toMatchObject({ status: 400, code: 'invalid_body' });
      const file = await upload(own, linesOf(1));
      const elsewhere = own.client.batches.create({
        input_file_id: file.id,
        endpoint: '/v1/responses',
        completion_window: '24h',
      });
      await expect(elsewhere).rejects.toMatchObject({ status: 400, code: 'invalid_body' });
      const { key } = await stack.key(own.slug, { maxOutputTokens: 8 });
      const less = tell({ url: stack.url, key }, 'POST', '/v1/batches', {
        input_file_id: file.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      expect(await less).toMatchObject({ status: 400, code: 'max_output_tokens_exceeded' });
    });

    it('a batch that would hold more than the policy allows', async () => {
      const own = await newClient(stack);
      const file = await upload(own, linesOf(10));
      const held = async (maxBatchHold: string) => {
        await setPolicy(stack.db, { workspace: own.slug, policy: { maxBatchHold } });
        await stack.announce();
        return begin(own, file.id).catch((error: Error) => error);
      };
      expect(await held('0.00001')).toMatchObject({
        status: 400,
        message: expect.stringContaining('would hold $0.0'),
      });
      expect((await own.client.batches.list()).data).toEqual([]);
      const made = await held('1');
      expect(made).toMatchObject({ object: 'batch' });
      if ('id' in made) await settled(made.id);
    });

    it('a single request at the price of batches', async () => {
      const own = await newClient(stack);
      const body = {
        model: 'sandbox/echo',
        service_tier: 'batch',
        messages: [{ role: 'user', content: 'Hello' }],
      };
      expect(await tell(own, 'POST', '/v1/chat/completions', body)).toMatchObject({
        status: 400,
        code: 'invalid_body',
      });
    });
  });
});
