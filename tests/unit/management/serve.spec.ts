import { afterEach, describe, expect, it, vi } from 'vitest';
import { readWebBody } from '#lib/console/management/web-body';
import { createPace } from '#lib/control/management/pace';
import { serveManagement } from '#lib/control/management/serve';
import { systemClock } from '#lib/platform/clock';
import { openDb } from '#lib/platform/data/db';
import { createIds } from '#lib/platform/ids';
import { makeKey, makeManagementKey } from '#lib/platform/secrets';
import { controlHost } from '#tests/support/control/operate';

describe('the management API without its database', () => {
  it('cannot look up a management key: 502, and the log says why', async () => {
    const db = openDb('postgres://gateway@127.0.0.1:1/none', { onError: () => {} });
    const reported: unknown[] = [];
    const host = {
      control: controlHost(db),
      pace: createPace(10),
      ids: createIds(systemClock),
      report: (error: unknown) => reported.push(error),
    };
    const answer = await serveManagement(host, {
      method: 'GET',
      target: '/api/v1/me',
      address: null,
      readBody: async () => '',
      headers: { authorization: `Bearer ${makeManagementKey()}` },
    });
    await db.close();
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'auth_resolve_failed' } });
    expect(String(reported[0])).toContain('ECONNREFUSED');
  });
});

describe('an API key on the management API (contract: control-plane/api-keys)', () => {
  const key = makeKey();
  async function answerTo(method: string, target: string, headers: Record<string, string>) {
    const db = openDb('postgres://gateway@127.0.0.1:1/none', { onError: () => {} });
    const report = (error: unknown) => {
      throw error;
    };
    const host = { control: controlHost(db), pace: createPace(10), ids: createIds(systemClock), report };
    const arrival = { method, target, headers, address: null, readBody: async () => '' };
    const { status, body } = await serveManagement(host, arrival);
    await db.close();
    return { status, ...JSON.parse(body).error };
  }

  it.each([
    ['POST', '/api/v1/chat/completions', 'use POST /v1/chat/completions, with a base URL without /api.'],
    ['GET', '/api/v1/models?limit=5', 'use GET /v1/models, with'],
    ['GET', '/api/v1/models/vendor/name', 'use GET /v1/models/{model}, with'],
    ['POST', '/api/v1/messages', 'use POST /v1/messages, with'],
    ['POST', '/api/v1//responses', 'use POST /v1/responses, with'],
    ['POST', '/api/v1/models/x:generateContent', 'use POST /v1/models/{model}:generateContent, with'],
    ['GET', '/api/v1/completions', 'There is no GET /api/v1/completions; use /v1/completions.'],
    ['POST', '/api/v1/completions', 'use POST /v1/completions'],
    ['GET', '/api/v1/nothing', 'GET /v1/models lists the models of this gateway.'],
  ])('%s %s is 404 and names what is near', async (method, target, message) => {
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key },
      { 'x-goog-api-key': key },
    ]) {
      const said = await answerTo(method, target, headers);
      expect(said).toEqual({ status: 404, code: 'not_found', message: expect.stringContaining(message) });
    }
  });

  it('is told which key an address takes, and never that it is wrong', async () => {
    for (const target of ['/api/v1/workspaces', '/api/v1/workspaces/demo/keys', '/api/v1/me']) {
      expect(await answerTo('GET', target, { authorization: `Bearer ${key}` })).toEqual({
        status: 401,
        code: 'missing_platform_authorization',
        message: 'This endpoint takes a management key (mgk_…); API keys (mg_…) call models under /v1.',
      });
    }
    const wrong = await answerTo('PATCH', '/api/v1/me', { authorization: `Bearer ${key}` });
    expect(wrong).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it('is looked at only where no management key is sent', async () => {
    const typo = await answerTo('GET', '/api/v1/me', { authorization: `Bearer ${key.slice(0, -1)}` });
    expect(typo).toMatchObject({ status: 401, code: 'invalid_api_key' });
    const path = await answerTo('GET', '/api/v1/nothing', { authorization: `Bearer ${makeManagementKey()}` });
    expect(path.message).toBe('There is nothing at /api/v1/nothing.');
  });
});

describe('a body on a host that runs only Next', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const streamOf = (...chunks: (string | Uint8Array)[]) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
        controller.close();
      },
    });

  it('is read whole, however it is cut', async () => {
    const euro = Buffer.from('€');
    expect(await readWebBody(streamOf('{"a":"', euro.subarray(0, 1), euro.subarray(1), '"}'))).toBe(
      '{"a":"€"}',
    );
    expect(await readWebBody(null)).toBe('');
  });

  it('is refused when it is larger than 1 MiB, or no text', async () => {
    await expect(readWebBody(streamOf('x'.repeat(1024 * 1024), 'x'))).rejects.toThrow('1 MiB');
    await expect(readWebBody(streamOf(Buffer.from([0xff])))).rejects.toThrow('UTF-8');
  });

  it('is refused after 15 s, and its sender is told to stop', async () => {
    vi.useFakeTimers();
    const cancel = vi.fn();
    const reading = readWebBody(new ReadableStream({ cancel }));
    const refused = expect(reading).rejects.toThrow('15 s');
    await vi.advanceTimersByTimeAsync(15_000);
    await refused;
    expect(cancel).toHaveBeenCalled();
  });
});
