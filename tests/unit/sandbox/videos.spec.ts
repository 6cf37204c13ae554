import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tests/support/eventually';
import { filmBytes } from '#tools/sandbox/content/film';
import { record } from '#tools/sandbox/content/tool-call';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${sandbox.origin}${path}`, { redirect: 'manual', ...init });
const json = async (path: string, init: RequestInit = {}) => {
  const answer = await call(path, init);
  return { status: answer.status, body: record(await answer.json()) };
};
const post = (path: string, body: object) => json(path, { method: 'POST', body: JSON.stringify(body) });
const create = async (directive: string, more: object = {}) => {
  const prompt = `A calm sea [[${directive}]]`;
  const { body } = await post('/v1/videos', { model: 'film', prompt, ...more });
  return String(body.id);
};
const stateOf = async (id: string) => (await json(`/v1/videos/${id}`)).body.status;
const filmOf = (start: number, end: number) => Buffer.concat([...filmBytes(start, end)]);

describe('a simulated video', () => {
  it('goes from queued to completed in the time of its name', async () => {
    const { body } = await post('/v1/videos', {
      model: 'film',
      prompt: 'A sea',
      seconds: '8',
      size: '1280x720',
    });
    expect(body).toMatchObject({
      object: 'video',
      status: 'queued',
      progress: 0,
      seconds: '8',
      size: '1280x720',
    });
    const slow = await create('film?job_ms=60000');
    expect((await json(`/v1/videos/${slow}/content`)).status).toBe(404);
    const fast = await create('film?job_ms=0');
    expect(await stateOf(fast)).toBe('completed');
  });

  it('can fail, never end, or be lost', async () => {
    expect(await stateOf(await create('film?job=failed&job_ms=0'))).toBe('failed');
    expect(await stateOf(await create('film?job=never&job_ms=0'))).toBe('in_progress');
    const lost = await create('film?job=gone&job_ms=20');
    await eventually(async () => (await call(`/v1/videos/${lost}`)).status, 404);
  });

  it('is created from a form or from JSON', async () => {
    const form = new FormData();
    form.set('prompt', 'A calm sea');
    form.set('input_reference', new Blob([Buffer.alloc(3_000, 13)], { type: 'image/png' }), 'a.png');
    form.set('model', 'film');
    form.set('seconds', '12');
    const { body } = await json('/v1/videos', { method: 'POST', body: form });
    expect(body).toMatchObject({ model: 'film', seconds: '12', prompt: 'A calm sea' });
  });

  it('has content of any length, whole and in ranges', async () => {
    const id = await create('film?job_ms=0&bytes=300000');
    const whole = Buffer.from(await (await call(`/v1/videos/${id}/content`)).arrayBuffer());
    expect(whole.equals(filmOf(0, 300_000))).toBe(true);
    expect(whole.subarray(4, 12).toString()).toBe('ftypisom');
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10],
      ['bytes=100000-200000', 100_000, 200_001],
      ['bytes=299990-', 299_990, 300_000],
      ['bytes=-5', 299_995, 300_000],
    ] as const) {
      const part = await call(`/v1/videos/${id}/content`, { headers: { range } });
      expect(part.status).toBe(206);
      expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/300000`);
      expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(start, end))).toBe(true);
    }
    const behind = await call(`/v1/videos/${id}/content`, { headers: { range: 'bytes=300000-' } });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */300000']);
    const etag = (await call(`/v1/videos/${id}/content`)).headers.get('etag') ?? '';
    const same = await call(`/v1/videos/${id}/content`, { headers: { 'if-none-match': etag } });
    expect(same.status).toBe(304);
    expect((await call(`/v1/videos/${id}/content?variant=thumbnail`)).headers.get('content-type')).toBe(
      'image/webp',
    );
  });

  it('can be remixed, listed and deleted', async () => {
    const id = await create('film?job_ms=0', { seconds: '8' });
    const remix = await post(`/v1/videos/${id}/remix`, { prompt: 'Again' });
    expect(remix.body).toMatchObject({ remixed_from_video_id: id, seconds: '8', model: 'film' });
    const list = await json('/v1/videos?limit=2');
    expect([list.body.data].flat().map((one) => record(one).id)).toEqual([remix.body.id, id]);
    expect(await json(`/v1/videos/${id}`, { method: 'DELETE' })).toEqual({
      status: 200,
      body: { id, object: 'video.deleted', deleted: true },
    });
    expect((await json(`/v1/videos/${id}`)).status).toBe(404);
  });

  it('meets faults on later requests', async () => {
    const id = await create('film?job_ms=0&get=fault/status-503');
    expect((await call(`/v1/videos/${id}`)).status).toBe(503);
    expect((await post('/v1/videos', { model: 'fault/status-429', prompt: 'x' })).status).toBe(429);
  });

  it('is logged with what a fair provider charges', async () => {
    const id = await create('film?job_ms=0', { seconds: '8' });
    const failing = await create('film?job=failed', { seconds: '8' });
    const lines = await sandbox.truth.read(0, (line) => line.event === 'end', 0);
    const charged = (job: string) => lines.find((line) => 'job' in line && line.job === job);
    expect(charged(id)).toMatchObject({ videoSeconds: 8 });
    expect(charged(failing)).toMatchObject({ videoSeconds: 0 });
  });
});

describe('a simulated prediction', () => {
  const predict = (directive: string, parameters: object = {}) =>
    post('/v1beta/models/film:predictLongRunning', {
      instances: [{ prompt: `A calm sea [[${directive}]]` }],
      parameters,
    });

  it('is an operation of its model, and its files are elsewhere on the host', async () => {
    const { body } = await predict('film?job_ms=0&bytes=70000', { sampleCount: 2 });
    expect(body.name).toMatch(/^models\/film\/operations\/\w+$/);
    const done = await json(`/v1beta/${body.name}`);
    const { generatedSamples } = record(record(done.body.response).generateVideoResponse);
    const [first, second] = [generatedSamples].flat().map((one) => String(record(record(one).video).uri));
    expect([done.body.done, second !== first]).toEqual([true, true]);
    const path = first?.replace('https://generativelanguage.googleapis.com', '') ?? '';
    const moved = await call(path, { headers: { 'x-goog-api-key': 'k' } });
    expect([moved.status, moved.headers.get('x-goog-api-key')]).toEqual([302, 'k']);
    const file = await call(moved.headers.get('location') ?? '');
    expect(Buffer.from(await file.arrayBuffer()).equals(filmOf(0, 70_000))).toBe(true);
  });

  it('can be filtered or fail, and is known only by its whole name', async () => {
    const filtered = await predict('film?job_ms=0&filtered=1');
    expect((await json(`/v1beta/${filtered.body.name}`)).body.response).toMatchObject({
      generateVideoResponse: { raiMediaFilteredCount: 1 },
    });
    const failed = await predict('film?job_ms=0&job=failed');
    expect((await json(`/v1beta/${failed.body.name}`)).body).toMatchObject({
      done: true,
      error: { code: 13 },
    });
    const other = String(failed.body.name).replace('film', 'other');
    expect((await json(`/v1beta/${other}`)).status).toBe(404);
  });
});
