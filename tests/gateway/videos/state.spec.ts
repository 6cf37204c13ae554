import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountOf, dollars, openStudio, promptOf, type Studio, settled } from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

interface Told {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly code: unknown;
  readonly callId: string;
  readonly headers: Headers;
}

describe('what a provider keeps of videos', () => {
  let stack: Stack;
  let studio: Studio;
  let stranger: Studio;
  beforeAll(async () => {
    stack = await joinStack();
    [studio, stranger] = [await openStudio(stack), await openStudio(stack)];
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function tell(response: Promise<Response>): Promise<Told> {
    const { status, headers, ...rest } = await response.then(async (one) => ({
      status: one.status,
      headers: one.headers,
      text: await one.text(),
    }));
    const body = rest.text.startsWith('{') ? record(JSON.parse(rest.text)) : {};
    return {
      status,
      headers,
      body,
      code: record(body.error).code,
      callId: headers.get('x-request-id') ?? '',
    };
  }
  const post = (who: Studio, path: string, body: object) =>
    tell(who.fetch(path, { method: 'POST', body: JSON.stringify(body) }));
  const create = (who: Studio, fields: object = {}) =>
    post(who, '/v1/videos', { model: 'sandbox/film', prompt: promptOf(), seconds: '4', ...fields });
  const requestsFor = async (id: string) => (await stack.sandbox.seen(id)).length;

  describe.concurrent('belongs to its workspace (contract: jobs/ownership, jobs/not-found)', () => {
    it('nobody else can read, fetch, remix or delete it, and the provider is not asked', async () => {
      const { body } = await create(studio);
      const id = String(body.id);
      const path = `/v1/videos/${id}`;
      const before = await requestsFor(id);
      for (const told of [
        await tell(stranger.fetch(path)),
        await tell(stranger.fetch(`${path}/content`)),
        await tell(stranger.fetch(path, { method: 'DELETE' })),
        await post(stranger, `${path}/remix`, { prompt: 'Mine' }),
        await tell(studio.fetch(`/v1/videos/${id}0`)),
      ]) {
        expect([told.status, told.code]).toEqual([404, 'not_found']);
      }
      expect(await requestsFor(id)).toBe(before);
      expect((await tell(studio.fetch(path))).status).toBe(200);
    });

    it('a key of the same workspace can, whatever models it may use', async () => {
      const { body } = await create(studio);
      const { key } = await stack.key(studio.slug, { models: ['sandbox/echo'] });
      const headers = { authorization: `Bearer ${key}` };
      const path = `/v1/videos/${body.id}`;
      expect((await tell(studio.fetch(path, { headers }))).status).toBe(200);
      const remix = studio.fetch(`${path}/remix`, { headers, method: 'POST', body: '{"prompt":"x"}' });
      expect(await tell(remix)).toMatchObject({ status: 400, code: 'model_not_allowed' });
    });

    it('a file of the provider’s store that the workspace did not make is not found', async () => {
      const told = await create(studio, { input_reference: { file_id: 'file-1' } });
      expect([told.status, told.code]).toEqual([404, 'not_found']);
    });
  });

  describe.concurrent('goes where it is kept (contract: jobs/pinning)', () => {
    it('a create call falls back like any other; what it made stays at its provider', async () => {
      const made = await create(studio, { model: 'test/film-falls-back', seconds: 8 });
      expect([made.status, made.headers.get('x-answered-provider'), made.headers.get('x-attempts')]).toEqual([
        200,
        'drained',
        '2',
      ]);
      for (const end of ['', '/content']) {
        const read = await tell(studio.fetch(`/v1/videos/${made.body.id}${end}`));
        expect([
          read.status,
          read.headers.get('x-answered-provider'),
          read.headers.get('x-attempts'),
        ]).toEqual([200, 'drained', '1']);
      }
      const remix = await post(studio, `/v1/videos/${made.body.id}/remix`, { prompt: promptOf() });
      expect([remix.status, remix.headers.get('x-attempts')]).toEqual([200, '1']);
      expect((await settled(stack, made.callId)).cost).toBe('2');
      expect((await settled(stack, remix.callId)).cost).toBe('2');
    });

    it('the provider’s own errors pass', async () => {
      const { body } = await create(studio, { prompt: promptOf('film?job_ms=60000') });
      const content = await tell(studio.fetch(`/v1/videos/${body.id}/content`));
      expect([content.status, record(content.body.error).type]).toEqual([404, 'invalid_request_error']);
      const refused = await create(studio, { size: '1x1' });
      expect([refused.status, refused.code]).toEqual([400, 'invalid_value']);
      await tell(studio.fetch(`/v1/videos/${body.id}`, { method: 'DELETE' }));
    });
  });

  describe.concurrent('and money', () => {
    it('is not required to fetch what was paid for', async () => {
      const poor = await openStudio(stack, { credit: '0.5' });
      const made = await create(poor, { seconds: '8', size: '1280x720' });
      await settled(stack, made.callId);
      expect(await create(poor)).toMatchObject({ status: 402, code: 'insufficient_balance' });
      const path = `/v1/videos/${made.body.id}`;
      expect((await tell(poor.fetch(path))).status).toBe(200);
      expect((await tell(poor.fetch(`${path}/content`))).status).toBe(200);
      expect((await tell(poor.fetch('/v1/videos'))).status).toBe(200);
      expect((await post(poor, `${path}/remix`, { prompt: 'x' })).code).toBe('insufficient_balance');
    });

    it('is held at the most that a request without a length may cost, and charged by the video', async () => {
      const own = await openStudio(stack);
      const slow = promptOf('film?job=never&job_ms=100');
      const silent = await create(own, { prompt: slow, seconds: null });
      expect((await accountOf(stack, own.workspaceId)).held).toBe(dollars('6'));
      await tell(own.fetch(`/v1/videos/${silent.body.id}`, { method: 'DELETE' }));
      const made = await create(own, { seconds: undefined, prompt: promptOf('film?job_ms=0&made=7') });
      const call = await settled(stack, made.callId);
      expect([call.cost, call.usage.videoSeconds, call.flags]).toEqual(['0.7', 7, []]);
    });

    it('is held for a remix by the length and size of its source (contract: jobs/remix)', async () => {
      const own = await openStudio(stack);
      const source = await create(own, { seconds: '8', size: '1280x720' });
      await settled(stack, source.callId);
      const prompt = promptOf('film?job=never&job_ms=0');
      const remix = await post(own, `/v1/videos/${source.body.id}/remix`, { prompt });
      expect(await accountOf(stack, own.workspaceId)).toEqual({
        held: dollars('0.8'),
        spent: dollars('0.8'),
      });
      await tell(own.fetch(`/v1/videos/${remix.body.id}`, { method: 'DELETE' }));
      expect(await accountOf(stack, own.workspaceId)).toEqual({ held: 0n, spent: dollars('1.6') });
    });

    it('is charged without the client’s asking', async () => {
      const own = await openStudio(stack);
      const made = await create(own, { prompt: promptOf('film?job_ms=200'), size: '1792x1024' });
      expect(made.body.status).toBe('queued');
      const call = await settled(stack, made.callId);
      expect([call.cost, call.job?.state]).toEqual(['1.2', 'completed']);
    });

    it('follows a job whose client left before its create answer', async () => {
      const own = await openStudio(stack);
      const prompt = promptOf('fault/slow-first-byte?ms=300&job_ms=0');
      const body = JSON.stringify({ model: 'sandbox/film', prompt, seconds: '4' });
      const headers = { Authorization: `Bearer ${own.key}` };
      await talk(stack.url, requestText('POST', '/v1/videos', headers, body), {
        leaveAfter: stack.sandbox.begun(prompt),
      });
      await eventually(async () => (await accountOf(stack, own.workspaceId)).spent, dollars('0.4'));
      expect((await own.client.videos.list()).data).toHaveLength(1);
    });

    it('a body that says no length is refused before anything is held', async () => {
      const own = await openStudio(stack);
      for (const seconds of ['eight', 0, true]) {
        expect(await create(own, { seconds })).toMatchObject({ status: 400, code: 'invalid_body' });
      }
      expect(await accountOf(stack, own.workspaceId)).toEqual({ held: 0n, spent: 0n });
    });
  });
});
