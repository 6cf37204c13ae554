import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#lib/clock';
import { openDb } from '#lib/data/db';
import { createIds } from '#lib/ids';
import { createPace } from '#lib/management/pace';
import { serveManagement } from '#lib/management/serve';
import { readWebBody } from '#lib/management/web-body';
import { makeManagementKey } from '#lib/secrets';
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
      ...{ method: 'GET', target: '/api/v1/me', address: null, readBody: async () => '' },
      headers: { authorization: `Bearer ${makeManagementKey()}` },
    });
    await db.close();
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'auth_resolve_failed' } });
    expect(String(reported[0])).toContain('ECONNREFUSED');
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
