import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showCall } from '#lib/control/operations/call/operations';
import { createTagBudget } from '#lib/control/operations/tag-budget/operations';
import { newClient } from '#tests/gateway/batches/stage';
import { type Asker, type Told, tell } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { operate, setWorkspace } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

type Client = Asker & { readonly client: Anthropic; readonly slug: string };
type Request = Anthropic.Messages.BatchCreateParams.Request;

const messageOf = ({ body }: Told) => String(record(body.error).message);

function paramsOf(fields: object = {}): Request['params'] {
  return {
    model: 'sandbox/echo',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'Say hello' }],
    ...fields,
  };
}

function requestsOf(count: number, fields: object = {}): Request[] {
  return Array.from({ length: count }, (_, index) => ({
    custom_id: `one-${index}`,
    params: paramsOf(fields),
  }));
}

/** The first request says how the simulated provider runs the batch. */
function ending(wish: string, [first, ...others]: readonly Request[]): Request[] {
  if (!first) return [];
  return [{ ...first, params: { ...first.params, metadata: { user_id: wish } } }, ...others];
}

/** Nano-dollars of the results, at the batch price of `sandbox/echo`. */
async function costOf(results: AsyncIterable<Anthropic.Messages.MessageBatchIndividualResponse>) {
  const ids: string[] = [];
  let cost = 0n;
  for await (const { custom_id, result } of results) {
    ids.push(custom_id);
    if (result.type !== 'succeeded') continue;
    const { input_tokens, output_tokens, cache_read_input_tokens } = result.message.usage;
    cost +=
      BigInt(input_tokens) * 500n +
      BigInt(cache_read_input_tokens ?? 0) * 125n +
      BigInt(output_tokens) * 2_000n;
  }
  return { ids, cost };
}

describe('batches of messages (contract: batches/messages)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function newMessagesClient(): Promise<Client> {
    const { url, key, slug } = await newClient(stack);
    return { url, key, slug, client: new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }) };
  }

  const jobOf = async (id: string) =>
    (
      await stack.db.pool.query(
        `SELECT call_id AS "callId", state, settled_at IS NOT NULL AS settled, cost_nano::text AS cost,
           hold_nano::text AS hold, family, credential FROM job WHERE upstream_id = $1`,
        [id],
      )
    ).rows[0];
  const settled = (id: string) => eventually(async () => (await jobOf(id))?.settled, true);

  it('are for the tags of their request, and held against the budgets of these (contract: tags/sources)', async () => {
    const own = await newMessagesClient();
    await setWorkspace(stack.db, { workspace: own.slug, tags: true });
    await operate(stack.db, createTagBudget, {
      workspace: own.slug,
      tag: 'feature',
      value: 'digest',
      dailyCap: '0.000001',
    });
    const create = (feature: string) =>
      own.client.messages.batches
        .create(
          { requests: ending('echo?job_ms=0', requestsOf(20)) },
          { headers: { 'x-gateway-tags': `feature=${feature}` } },
        )
        .then(
          ({ id }) => id,
          ({ error }) => String(error.error.code),
        );
    await eventually(async () => {
      const told = await create('digest');
      if (told.startsWith('msgbatch')) await settled(told);
      return told;
    }, 'day_limit_reached');
    const id = await create('search');
    await settled(id);
    const { callId } = await jobOf(id);
    await stack.call(callId);
    expect(await operate(stack.db, showCall, { id: callId })).toMatchObject({ tags: { feature: 'search' } });
  });

  it('run the requests of a body, each charged by its result at the price of batches', async () => {
    const own = await newMessagesClient();
    const requests = [
      ...ending('echo?job_ms=0', requestsOf(20)),
      { custom_id: 'refused', params: paramsOf({ messages: [] }) },
    ];
    const made = await own.client.messages.batches.create({ requests });
    expect(made).toMatchObject({ type: 'message_batch', processing_status: 'in_progress' });
    const held = BigInt((await jobOf(made.id)).hold);
    const seen = await own.client.messages.batches.retrieve(made.id);
    expect(seen).toMatchObject({
      processing_status: 'ended',
      request_counts: { succeeded: 20, errored: 1 },
      results_url: `/v1/messages/batches/${made.id}/results`,
    });
    await settled(made.id);
    const { ids, cost } = await costOf(await own.client.messages.batches.results(made.id));
    expect(ids).toEqual([...requestsOf(20).map(({ custom_id }) => custom_id), 'refused']);
    const job = await jobOf(made.id);
    expect(BigInt(job.cost)).toBe(cost);
    expect(cost).toBeGreaterThan(0n);
    expect(held).toBeGreaterThan(cost);
    const { rows } = await stack.db.pool.query(
      'SELECT status, error_code, cost_nano::text AS cost FROM batch_line WHERE call_id = $1 AND custom_id = $2',
      [job.callId, 'refused'],
    );
    expect(rows).toEqual([{ status: null, error_code: 'invalid_request_error', cost: '0' }]);
    expect(await stack.call(job.callId)).toMatchObject({
      operation: 'messages.batches.create',
      answeringModel: 'sandbox/echo',
      job: { kind: 'batch', state: 'completed' },
    });
  });

  it('charge only what was answered: expired and cancelled requests are free', async () => {
    const own = await newMessagesClient();
    const { batches } = own.client.messages;
    const expired = await batches.create({ requests: ending('echo?job_ms=0&answered=4', requestsOf(10)) });
    const cancelled = await batches.create({ requests: ending('echo?job_ms=600000', requestsOf(10)) });
    expect(await batches.cancel(cancelled.id)).toMatchObject({ processing_status: 'canceling' });
    await Promise.all([expired, cancelled].map(({ id }) => settled(id)));
    for (const [{ id }, counts, state] of [
      [expired, { succeeded: 4, expired: 6 }, 'completed'],
      [cancelled, { succeeded: 5, canceled: 5 }, 'cancelled'],
    ] as const) {
      expect(await batches.retrieve(id)).toMatchObject({ request_counts: counts });
      const { cost } = await costOf(await batches.results(id));
      expect(await jobOf(id)).toMatchObject({ state, cost: String(cost) });
      const { rows } = await stack.db.pool.query(
        'SELECT count(*)::int AS lines, count(*) FILTER (WHERE cost_nano = 0)::int AS free FROM batch_line WHERE call_id = $1',
        [(await jobOf(id)).callId],
      );
      expect(rows).toEqual([{ lines: 10, free: 10 - counts.succeeded }]);
    }
  });

  it('are listed by the gateway in pages, without batches of files', async () => {
    const own = await newMessagesClient();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await own.client.messages.batches.create({ requests: requestsOf(1) })).id);
    }
    const listed = [];
    for await (const one of own.client.messages.batches.list({ limit: 2 })) listed.push(one.id);
    expect(listed).toEqual(ids);
    const before = await own.client.messages.batches.list({ before_id: ids[2] ?? '', limit: 1 });
    expect(before.data.map(({ id }) => id)).toEqual([ids[1]]);
    expect(before).toMatchObject({ has_more: true, first_id: ids[1], last_id: ids[1] });
    expect((await (await newMessagesClient()).client.messages.batches.list()).data).toEqual([]);
    const files = await fetch(`${stack.url}/v1/batches`, { headers: { authorization: `Bearer ${own.key}` } });
    expect(await files.json()).toMatchObject({ data: [] });
    await Promise.all(ids.map(settled));
  });

  it('are deleted with their results only once they are charged (contract: batches/results)', async () => {
    const own = await newMessagesClient();
    const { batches } = own.client.messages;
    const made = await batches.create({ requests: ending('echo?job_ms=600000', requestsOf(2)) });
    await expect(batches.delete(made.id)).rejects.toMatchObject({ status: 409 });
    expect(await tell(own, 'DELETE', `/v1/messages/batches/${made.id}`)).toMatchObject({
      status: 409,
      code: 'results_not_charged',
    });
    await batches.cancel(made.id);
    await settled(made.id);
    expect(BigInt((await jobOf(made.id)).cost)).toBeGreaterThan(0n);
    expect(await batches.delete(made.id)).toMatchObject({ type: 'message_batch_deleted' });
    await expect(batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    expect((await batches.list()).data).toEqual([]);
  });

  it('are unknown to other workspaces, and at the addresses of other protocols', async () => {
    const [own, other] = [await newMessagesClient(), await newMessagesClient()];
    const made = await own.client.messages.batches.create({
      requests: ending('echo?job_ms=0', requestsOf(1)),
    });
    await settled(made.id);
    const address = `/v1/messages/batches/${made.id}`;
    for (const [method, path] of [
      ['GET', address],
      ['DELETE', address],
      ['POST', `${address}/cancel`],
      ['GET', `${address}/results`],
    ] as const) {
      const answer = await tell(other, method, path);
      expect(answer).toMatchObject({ status: 404, code: 'not_found' });
      const never = await tell(other, method, path.replace(made.id, 'msgbatch_nothing'));
      expect(answer.body).toEqual(never.body);
    }
    expect(await tell(own, 'GET', `/v1/batches/${made.id}`)).toMatchObject({ status: 404 });
  });

  describe('are refused before anything is sent or held (contract: batches/bad-line)', () => {
    it.each([
      ['no requests', () => ({ requests: [] }), /Field "requests" is empty/],
      ['no list', () => ({ requests: 'all' }), /"requests".*a list of requests/],
      ['nothing', () => ({}), /Field "requests" is missing/],
      [
        'one that is wrong of many, by its place and its custom id',
        () => ({
          requests: [...requestsOf(50), { custom_id: 'odd', params: paramsOf({ max_tokens: 'many' }) }],
        }),
        /^"requests\[50\]" \(custom_id "odd"\): Field "max_tokens"/,
      ],
      [
        'one without params, by its place',
        () => ({ requests: [...requestsOf(1), { custom_id: 'b' }] }),
        /^"requests\[1\]" \(custom_id "b"\): Field "params"/,
      ],
      [
        'an unknown model',
        () => ({ requests: requestsOf(1, { model: 'nobody/none' }) }),
        /^"requests\[0\]" \(custom_id "one-0"\): Model "nobody\/none" is unknown/,
      ],
      [
        'a second model',
        () => ({
          requests: [...requestsOf(1), { custom_id: 'b', params: paramsOf({ model: 'sandbox/mini' }) }],
        }),
        /^"requests\[1\]" .*must name one model/,
      ],
      [
        'a custom id twice',
        () => ({ requests: [...requestsOf(1), ...requestsOf(1)] }),
        /^"requests\[1\]" .*same "custom_id"/,
      ],
      ['a stream', () => ({ requests: requestsOf(1, { stream: true }) }), /^"requests\[0\]" .*"stream"/],
      ['a speed', () => ({ requests: requestsOf(1, { speed: 'fast' }) }), /^"requests\[0\]" .*"speed"/],
      [
        'a file that the workspace does not have',
        () => ({ requests: requestsOf(1, { messages: [withFile('file_nothing')] }) }),
        /^"requests\[0\]" .*no file/,
      ],
      [
        'a model without a price for batches',
        () => ({ requests: requestsOf(1, { model: 'sandbox/mini' }) }),
        /^Model sandbox\/mini cannot be called in batches/,
      ],
    ])('%s', async (_, body, message) => {
      const own = await newMessagesClient();
      const answer = await tell(own, 'POST', '/v1/messages/batches', body());
      expect(messageOf(answer)).toMatch(message);
      expect(answer.status).toBeLessThan(500);
      expect((await own.client.messages.batches.list()).data).toEqual([]);
    });

    it('more tokens than the key allows', async () => {
      const own = await newMessagesClient();
      const { key } = await stack.key(own.slug, { maxOutputTokens: 8 });
      expect(
        await tell({ url: stack.url, key }, 'POST', '/v1/messages/batches', { requests: requestsOf(1) }),
      ).toMatchObject({ status: 400, code: 'max_output_tokens_exceeded' });
    });
  });
});

function withFile(file_id: string) {
  return {
    role: 'user',
    content: [{ type: 'document', source: { type: 'file', file_id } }],
  };
}

describe('files of messages (contract: batches/message-files)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const client = async () => {
    const { url, key } = await newClient(stack);
    return { url, key, client: new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }) };
  };

  it('are uploaded, listed, read, downloaded and deleted with the official SDK', async () => {
    const [own, other] = [await client(), await client()];
    const { files } = own.client.beta;
    const made = await files.upload({ file: await toFile(Buffer.from('Some text'), 'a.txt') });
    expect(made).toMatchObject({ type: 'file', filename: 'a.txt', size_bytes: 9 });
    expect(await files.retrieveMetadata(made.id)).toMatchObject({ id: made.id });
    expect(await (await files.download(made.id)).text()).toBe('Some text');
    const second = await files.upload({ file: await toFile(Buffer.from('More'), 'b.txt') });
    const listed = async () => {
      const ids = [];
      for await (const one of files.list({ limit: 1 })) ids.push(one.id);
      return ids;
    };
    await expect.poll(listed).toEqual([second.id, made.id]);
    expect((await other.client.beta.files.list()).data).toEqual([]);
    await expect(other.client.beta.files.retrieveMetadata(made.id)).rejects.toMatchObject({ status: 404 });
    // The other protocol's files have the same addresses, and are other files.
    expect(await tell(own, 'GET', `/v1/files/${made.id}`)).toMatchObject({ status: 404 });
    expect(await files.delete(made.id)).toMatchObject({ type: 'file_deleted' });
    await expect(files.download(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['a document', (id: string) => [withFile(id)]],
    [
      'an upload to a container',
      (id: string) => [{ role: 'user', content: [{ type: 'container_upload', file_id: id }] }],
    ],
    [
      'a block of a result of a tool',
      (id: string) => [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'image', source: { type: 'file', file_id: id } }],
            },
          ],
        },
      ],
    ],
    [
      'a block of a document of its own',
      (id: string) => [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: {
                type: 'content',
                content: [{ type: 'image', source: { type: 'file', file_id: id } }],
              },
            },
          ],
        },
      ],
    ],
  ])('that a message names must be the workspace’s own: %s', async (_, messages) => {
    const [own, other] = [await client(), await client()];
    const { id } = await own.client.beta.files.upload({ file: await toFile(Buffer.from('Text'), 'a.txt') });
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const body = { model: 'sandbox/echo', max_tokens: 4, messages: messages(id) };
      expect(await tell(own, 'POST', path, body)).toMatchObject({ status: 200 });
      const refused = await tell(other, 'POST', path, body);
      expect(refused).toMatchObject({ status: 404, code: 'not_found' });
      const never = { ...body, messages: messages('file_nothing') };
      expect(refused.body).toEqual((await tell(other, 'POST', path, never)).body);
    }
  });
});
