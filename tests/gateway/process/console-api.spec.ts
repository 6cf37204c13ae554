import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '#tests/support/shared/attach';
import { joinStack } from '#tests/support/shared/join';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

async function ask(path: string): Promise<{ answer: IncomingMessage; body: string }> {
  const [answer] = await once(get(`${stack.url}${path}`), 'response');
  return { answer, body: await text(answer) };
}

describe('answers under /api', () => {
  it.each([
    '/api/health',
    '/api/health?deep=1',
    '/api/metrics',
    '/api/auth/csrf',
    '/api/auth/no-such-thing',
    '/api/v1/me',
    '/api/nothing',
  ])('%s has a request id (contract: request/request-id)', async (path) => {
    const { answer } = await ask(path);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('has the message of an error of the management API as its reason phrase', async () => {
    const { answer, body } = await ask('/api/v1/me');
    const { message } = JSON.parse(body).error;
    expect(message).toContain('\u2026');
    expect(answer.statusMessage).toBe(message.replaceAll('\u2026', '...'));
  });
});
