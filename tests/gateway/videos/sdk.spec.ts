import OpenAI, { NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountOf, dollars, openStudio, promptOf, type Studio, settled } from '#tests/gateway/videos/stage';
import { closeBalanced, costOf } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { filmBytes } from '#tools/sandbox/content/film';

const filmOf = (start: number, end: number) => Buffer.concat([...filmBytes(start, end)]);
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
type Seconds = '4' | '8' | '12';

describe('the official openai SDK’s videos', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const model = 'sandbox/film';
  /** Creates as the SDK does, in a form. */
  const create = ({ client }: Studio, directive?: string, seconds: Seconds = '8') =>
    client.videos.create({ model, prompt: promptOf(directive), seconds, size: '1280x720' }).withResponse();
  const stateOf = async ({ client }: Studio, id: string) => (await client.videos.retrieve(id)).status;

  it('creates with a picture, polls to the end and is charged once, by size', async () => {
    const studio = await openStudio(stack);
    const prompt = promptOf('film?job_ms=300');
    const picture = Buffer.alloc(300_000, 0x89);
    const { data: video, response } = await studio.client.videos
      .create({
        model,
        prompt,
        seconds: '12',
        size: '1024x1792',
        input_reference: await OpenAI.toFile(picture, 'first.png', { type: 'image/png' }),
      })
      .withResponse();
    expect(video).toMatchObject({ object: 'video', status: 'queued', seconds: '12', prompt });
    // 12 seconds at $0.30, held from before the answer on.
    expect((await accountOf(stack, studio.workspaceId)).held).toBe(dollars('3.6'));
    await eventually(() => stateOf(studio, video.id), 'completed');
    const call = await settled(stack, response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({
      operation: 'videos.create',
      status: 200,
      cost: '3.6',
      usage: { videoSeconds: 12 },
      lines: [{ class: 'videoSecond', quantity: 12, cost: '3.6' }],
      job: { id: video.id, kind: 'video', state: 'completed', cost: '3.6' },
    });
    for (let again = 0; again < 3; again += 1) await studio.client.videos.retrieve(video.id);
    expect(await accountOf(stack, studio.workspaceId)).toEqual({ held: 0n, spent: dollars('3.6') });
    const [seen] = await stack.sandbox.seen(prompt);
    expect(seen?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(seen?.body).toContain('name="model"\r\n\r\nfilm\r\n');
    expect(seen?.bodyBytes).toBeGreaterThan(300_000);
  });

  it('a job that fails costs nothing', async () => {
    const studio = await openStudio(stack);
    const { data: video, response } = await create(studio, 'film?job=failed&job_ms=0');
    expect(video.status).toBe('failed');
    const call = await settled(stack, response.headers.get('x-request-id') ?? '');
    expect([costOf(call), call.job?.state]).toEqual([0n, 'failed']);
    expect(await accountOf(stack, studio.workspaceId)).toEqual({ held: 0n, spent: 0n });
  });

  it('downloads the content, its variants and ranges of it', async () => {
    const studio = await openStudio(stack);
    const { data: video } = await create(studio, 'film?job_ms=0&bytes=500000', '4');
    const whole = await studio.client.videos.downloadContent(video.id);
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    // Next frames the body itself: see the known differences.
    expect(whole.headers.get('content-length')).toBe('500000');
    expect((await bytesOf(whole)).equals(filmOf(0, 500_000))).toBe(true);
    const variant = await studio.client.videos.downloadContent(video.id, { variant: 'thumbnail' });
    expect([variant.headers.get('content-type'), (await bytesOf(variant)).length]).toEqual([
      'image/webp',
      2_000,
    ]);
    const headers = { range: 'bytes=70000-139999' };
    const part = await studio.client.videos.downloadContent(video.id, {}, { headers });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 70000-139999/500000']);
    expect((await bytesOf(part)).equals(filmOf(70_000, 140_000))).toBe(true);
    await expect(
      studio.client.videos.downloadContent(video.id, {}, { headers: { range: 'bytes=500000-' } }),
    ).rejects.toMatchObject({ status: 416 });
    const etag = whole.headers.get('etag') ?? '';
    const same = await studio.fetch(`/v1/videos/${video.id}/content`, { headers: { 'if-none-match': etag } });
    expect([same.status, (await bytesOf(same)).length]).toEqual([304, 0]);
  });

  it('lists the workspace’s own videos, newest first, page by page, without prompts (contract: jobs/job-list)', async () => {
    const studio = await openStudio(stack);
    const other = await openStudio(stack);
    await create(other);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await create(studio)).data.id);
    const listed = [];
    for await (const video of studio.client.videos.list({ limit: 2 })) listed.push(video);
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(listed.map(({ prompt }) => prompt)).toEqual(Array(5).fill(null));
    expect(listed[0]).toMatchObject({ object: 'video', status: 'completed', seconds: '8', size: '1280x720' });
    const page = await studio.client.videos.list({ order: 'asc', after: ids[3] ?? '', limit: 2 });
    expect(page.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(page.has_more).toBe(true);
  });

  it('deletes: afterwards it is not found, and its charge stays', async () => {
    const studio = await openStudio(stack);
    const { data: video } = await create(studio, undefined, '4');
    expect(await studio.client.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true });
    await expect(studio.client.videos.retrieve(video.id)).rejects.toThrow(NotFoundError);
    await expect(studio.client.videos.downloadContent(video.id)).rejects.toThrow(NotFoundError);
    await expect(studio.client.videos.remix(video.id, { prompt: 'x' })).rejects.toThrow(NotFoundError);
    expect((await studio.client.videos.list()).data).toEqual([]);
    expect(await accountOf(stack, studio.workspaceId)).toEqual({ held: 0n, spent: dollars('0.4') });
  });

  it('a running job that is deleted is charged its hold, a queued one nothing', async () => {
    const studio = await openStudio(stack);
    const waiting = (await create(studio, 'film?job_ms=60000')).data;
    const running = (await create(studio, 'film?job=never&job_ms=200')).data;
    await eventually(() => stateOf(studio, running.id), 'in_progress');
    for (const { id } of [waiting, running]) await studio.client.videos.delete(id);
    // Nobody says how much of it was made.
    await eventually(() => accountOf(stack, studio.workspaceId), { held: 0n, spent: dollars('0.8') });
  });

  it('remixes: with the model of its source, at its own length', async () => {
    const studio = await openStudio(stack);
    const { data: source } = await create(studio, undefined, '4');
    const prompt = promptOf();
    const { data: remix, response } = await studio.client.videos.remix(source.id, { prompt }).withResponse();
    expect(remix).toMatchObject({ remixed_from_video_id: source.id, seconds: '4', status: 'completed' });
    const call = await settled(stack, response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({
      operation: 'videos.remix',
      requestedModel: model,
      answeringModel: model,
      cost: '0.4',
      job: { id: remix.id },
    });
    expect((await bytesOf(await studio.client.videos.downloadContent(remix.id))).length).toBe(100_000);
    const [seen] = await stack.sandbox.seen(prompt);
    expect(seen?.body).toBe(JSON.stringify({ prompt }));
  });
});
