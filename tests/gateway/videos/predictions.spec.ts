import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenerateVideosOperation, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountOf, dollars, openStudio, promptOf, type Studio, settled } from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { filmBytes } from '#tools/sandbox/content/film';
import { record } from '#tools/sandbox/content/tool-call';

const filmOf = (start: number, end: number) => Buffer.concat([...filmBytes(start, end)]);
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('long-running predictions', () => {
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

  const json = async (response: Response) => record(await response.json());
  const codeIn = async (response: Response) => [response.status, record((await json(response)).error).code];
  async function predict(
    who: Studio,
    directive?: string,
    parameters: object = { durationSeconds: 8 },
    model = 'sandbox/film',
    instance: object = {},
  ) {
    const instances = [{ prompt: promptOf(directive), ...instance }];
    const response = await who.fetch(`/v1beta/models/${model}:predictLongRunning`, {
      method: 'POST',
      body: JSON.stringify({ instances, parameters }),
    });
    const name = String((await json(response)).name);
    return { response, name, id: name.split('/').at(-1), callId: response.headers.get('x-request-id') ?? '' };
  }
  const doneOf = async (who: Studio, path: string) => (await json(await who.fetch(path))).done === true;
  const filesIn = (operation: Record<string, unknown>) => {
    const { generatedSamples } = record(record(operation.response).generateVideoResponse);
    return [generatedSamples ?? []].flat().map((one) => {
      const uri = String(record(record(one).video).uri);
      return { uri, id: /files\/(\w+):/.exec(uri)?.[1] ?? '' };
    });
  };
  /** The files of a finished prediction, as its operation shows them. */
  async function made(who: Studio, directive?: string, parameters?: object) {
    const { name, callId } = await predict(who, directive, parameters);
    return { name, callId, files: filesIn(await json(await who.fetch(`/v1beta/${name}`))) };
  }

  it('predicts, polls by every spelling of the operation, downloads, and is charged once', async () => {
    const own = await openStudio(stack);
    const parameters = { durationSeconds: '8', sampleCount: 2, resolution: '1080p' };
    const { response, name, id, callId } = await predict(own, 'film?job_ms=300&bytes=300000', parameters);
    expect([response.status, name]).toEqual([200, `models/film/operations/${id}`]);
    // 2 × 8 seconds at $0.20.
    expect((await accountOf(stack, own.workspaceId)).held).toBe(dollars('3.2'));
    await eventually(() => doneOf(own, `/v1beta/${name}`), true);
    for (const path of [
      `/v1beta/models/sandbox/film/operations/${id}`,
      `/v1/models/film/operations/${id}`,
      `/v1alpha/operations/${id}`,
    ]) {
      expect(await doneOf(own, path)).toBe(true);
    }
    const call = await settled(stack, callId);
    expect(call).toMatchObject({
      operation: 'content.predictLongRunning',
      cost: '3.2',
      usage: { videoSeconds: 16 },
      lines: [{ class: 'videoSecond', quantity: 16 }],
      job: { id, kind: 'operation', state: 'completed', cost: '3.2' },
    });
    const files = filesIn(await json(await own.fetch(`/v1beta/operations/${id}`)));
    expect(files).toHaveLength(2);
    for (const { uri, id: file } of files) {
      expect(uri).toBe(`https://generativelanguage.googleapis.com/v1beta/files/${file}:download?alt=media`);
      const download = await own.fetch(`/v1beta/files/${file}:download?alt=media`);
      expect([download.status, download.headers.get('content-type')]).toEqual([200, 'video/mp4']);
      expect((await bytesOf(download)).equals(filmOf(0, 300_000))).toBe(true);
      expect([...download.headers.keys()]).not.toContain('x-goog-api-key');
    }
    expect(await accountOf(stack, own.workspaceId)).toEqual({ held: 0n, spent: dollars('3.2') });
  });

  it('the official SDK polls and downloads', async () => {
    const { name } = await predict(studio, 'film?job_ms=300&bytes=70000');
    const client = new GoogleGenAI({ apiKey: studio.key, httpOptions: { baseUrl: stack.url } });
    let operation = Object.assign(new GenerateVideosOperation(), { name });
    await eventually(async () => {
      operation = Object.assign(operation, await client.operations.getVideosOperation({ operation }));
      return operation.done;
    }, true);
    const [video] = operation.response?.generatedVideos ?? [];
    if (!video) throw new Error('the operation shows no video');
    const folder = mkdtempSync(join(tmpdir(), 'film-'));
    await client.files.download({ file: video, downloadPath: join(folder, 'film.mp4') });
    await eventually(() => existsSync(join(folder, 'film.mp4')), true);
    await eventually(() => readFileSync(join(folder, 'film.mp4')).equals(filmOf(0, 70_000)), true);
    rmSync(folder, { recursive: true });
  });

  it('ranges of a file pass', async () => {
    const { files } = await made(studio, 'film?job_ms=0&bytes=300000');
    const headers = { range: 'bytes=100000-199999' };
    const part = await studio.fetch(`/v1beta/files/${files[0]?.id}:download?alt=media`, { headers });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100000-199999/300000']);
    expect((await bytesOf(part)).equals(filmOf(100_000, 200_000))).toBe(true);
  });

  it('filtered and failed videos cost nothing, a request without a length costs the default length', async () => {
    const own = await openStudio(stack);
    const cost = async (directive: string, parameters: object = {}) => {
      const { name, callId } = await predict(own, directive, parameters);
      await doneOf(own, `/v1beta/${name}`);
      const { cost, flags } = await settled(stack, callId);
      return [cost, ...flags];
    };
    expect(await cost('film?job_ms=0&filtered=2', { sampleCount: 2, durationSeconds: 4 })).toEqual(['0']);
    expect(await cost('film?job_ms=0&filtered=1', { sampleCount: 3, durationSeconds: 4 })).toEqual(['0.8']);
    expect(await cost('film?job_ms=0&job=failed')).toEqual(['0']);
    expect(await cost('film?job_ms=0')).toEqual(['0.8', 'video_length_assumed']);
  });

  it('belongs to its workspace: operations and files of others are not found', async () => {
    const { name, files } = await made(studio, 'film?job_ms=0');
    const file = files[0]?.id ?? '';
    for (const path of [
      `/v1beta/${name}`,
      `/v1/operations/${name.split('/').at(-1)}`,
      `/v1/files/${file}:download`,
    ]) {
      expect(await codeIn(await stranger.fetch(path))).toEqual([404, 'not_found']);
      expect((await studio.fetch(`${path}?alt=media`)).status).not.toBe(404);
    }
    expect(await codeIn(await studio.fetch('/v1beta/files/unknown:download?alt=media'))).toEqual([
      404,
      'not_found',
    ]);
  });

  it('a body may name the files of its workspace, and no other state of the provider', async () => {
    const { files } = await made(studio, 'film?job_ms=0');
    const fileUri = files[0]?.uri ?? '';
    const ask = (who: Studio, body: object) =>
      who.fetch('/v1beta/models/sandbox/echo:generateContent', {
        method: 'POST',
        body: JSON.stringify(body),
      });
    const withFile = { contents: [{ parts: [{ text: 'What is this?' }, { fileData: { fileUri } }] }] };
    expect((await ask(studio, withFile)).status).toBe(200);
    expect(await codeIn(await ask(stranger, withFile))).toEqual([404, 'not_found']);
    const contents = [{ parts: [{ text: 'Hi' }] }];
    expect(await codeIn(await ask(studio, { contents, cachedContent: 'cachedContents/x' }))).toEqual([
      404,
      'not_found',
    ]);
    const elsewhere = { fileData: { fileUri: 'gs://bucket/files/x' } };
    expect((await ask(stranger, { contents: [{ parts: [{ text: 'Hi' }, elsewhere] }] })).status).toBe(200);
    const video = { uri: fileUri };
    const going = await predict(studio, undefined, {}, 'sandbox/film', { video });
    expect(going.response.status).toBe(200);
    await doneOf(studio, `/v1beta/${going.name}`);
    expect((await predict(stranger, undefined, {}, 'sandbox/film', { video })).response.status).toBe(404);
  });

  it('falls back, and its operation stays where it was begun', async () => {
    const { response, name } = await predict(studio, undefined, {}, 'test/film-falls-back');
    expect([response.status, response.headers.get('x-answered-provider')]).toEqual([200, 'drained']);
    const read = await studio.fetch(`/v1beta/${name}`);
    expect([read.status, read.headers.get('x-answered-provider')]).toEqual([200, 'drained']);
  });
});
