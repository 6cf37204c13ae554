import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accountOf,
  characterOf,
  dollars,
  openStudio,
  promptOf,
  type Studio,
  settled,
} from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const model = 'sandbox/film';

describe('a video that starts from another one (contract: jobs/remix, families/video-lengths)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  /** A finished video of 12 s at $0.30 a second. */
  async function sourceOf(studio: Studio): Promise<string> {
    const { data, response } = await studio.client.videos
      .create({ model, prompt: promptOf(), seconds: '12', size: '1024x1792' })
      .withResponse();
    await settled(stack, response.headers.get('x-request-id') ?? '');
    return data.id;
  }
  const film = () => OpenAI.toFile(Buffer.alloc(50_000, 7), 'cut.mp4', { type: 'video/mp4' });

  it('as an edit is held and charged by the length and size of its source', async () => {
    const studio = await openStudio(stack);
    const id = await sourceOf(studio);
    const before = await accountOf(stack, studio.workspaceId);
    const prompt = promptOf('film?job_ms=300');
    const { data, response } = await studio.client.videos.edit({ prompt, video: { id } }).withResponse();
    expect(data).toMatchObject({ object: 'video', seconds: '12', size: '1024x1792' });
    expect((await accountOf(stack, studio.workspaceId)).held).toBe(dollars('3.6'));
    await eventually(async () => (await studio.client.videos.retrieve(data.id)).status, 'completed');
    const call = await settled(stack, response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ operation: 'videos.edit', cost: '3.6', requestedModel: model });
    const after = await accountOf(stack, studio.workspaceId);
    expect(after.spent - before.spent).toBe(dollars('3.6'));
  });

  it('as an extension is charged by the seconds that it adds', async () => {
    const studio = await openStudio(stack);
    const id = await sourceOf(studio);
    const { data, response } = await studio.client.videos
      .extend({ prompt: promptOf('film?job_ms=300'), seconds: '4', video: { id } })
      .withResponse();
    expect(data.seconds).toBe('16');
    expect((await accountOf(stack, studio.workspaceId)).held).toBe(dollars('1.2'));
    await eventually(async () => (await studio.client.videos.retrieve(data.id)).status, 'completed');
    const call = await settled(stack, response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ operation: 'videos.extend', cost: '1.2' });
    // What starts from the whole of it is as long as the whole.
    const edit = await studio.client.videos
      .edit({ prompt: promptOf(), video: { id: data.id } })
      .withResponse();
    const edited = await settled(stack, edit.response.headers.get('x-request-id') ?? '');
    expect(edited.cost).toBe('4.8');
  });

  it('may be a file, if the request names a model', async () => {
    const studio = await openStudio(stack);
    const unnamed = studio.client.videos.edit({ prompt: promptOf(), video: await film() });
    await expect(unnamed).rejects.toMatchObject({ status: 400, code: 'invalid_body' });
    const named = { prompt: promptOf(), video: await film(), model };
    const { response } = await studio.client.videos.edit(named).withResponse();
    const call = await settled(stack, response.headers.get('x-request-id') ?? '');
    // 8 s at $0.10.
    expect(call).toMatchObject({ operation: 'videos.edit', cost: '0.8' });
  });

  it('sends the provider what the client wrote, apart from the model', async () => {
    const studio = await openStudio(stack);
    const id = await sourceOf(studio);
    const prompt = promptOf();
    const body = `{ "video" : {"id":"${id}"}, "prompt":"${prompt}",\n "model": "sandbox/film", "more": 1e3 }`;
    const headers = { 'content-type': 'application/json' };
    const answer = await studio.fetch('/v1/videos/edits', { method: 'POST', headers, body });
    expect(answer.headers.get('x-answered-provider')).toBe('sandbox');
    const [seen] = await stack.sandbox.seen(prompt);
    expect(seen?.body).toBe(body.replace('sandbox/film', 'film'));
  });

  it.each([
    ['/v1/videos/edits', { video: { id: 7 } }, 400, 'invalid_body'],
    ['/v1/videos/edits', { video: { id: 'video_none' } }, 404, 'not_found'],
    ['/v1/videos/edits', { video: {} }, 400, 'invalid_body'],
    ['/v1/videos/extensions', { model, seconds: 'long' }, 400, 'invalid_body'],
    ['/v1/videos/extensions', { video: { id: 'video_none' }, seconds: '4' }, 404, 'not_found'],
  ])('is refused by our own checks: %s %j is %i', async (path, fields, status, code) => {
    const studio = await openStudio(stack);
    const body = JSON.stringify({ prompt: promptOf(), ...fields });
    const answer = await studio.fetch(path, { method: 'POST', body });
    expect([answer.status, (await answer.json()).error?.code]).toEqual([status, code]);
  });

  it('or shows a character needs those of its own workspace', async () => {
    const [studio, stranger] = [await openStudio(stack), await openStudio(stack)];
    const id = await characterOf(stack.url, studio.key);
    expect(await studio.client.videos.getCharacter(id)).toMatchObject({ id, name: 'Cat' });
    await expect(stranger.client.videos.getCharacter(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const body = JSON.stringify({ model, prompt: promptOf(), characters: [{ id }] });
    const ask = (by: Studio) => by.fetch('/v1/videos', { method: 'POST', body });
    expect((await ask(studio)).status).toBe(200);
    expect((await ask(stranger)).status).toBe(404);
  });
});
