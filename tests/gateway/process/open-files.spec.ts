import { spawnSync } from 'node:child_process';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { type OwnStack, startStack } from '#tests/support/stack';

let stack: OwnStack;
let key: string;
/** Its connection is there before the gateway has no file left for another one. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  stack = await startStack({ direct: true });
  key = (await stack.key((await stack.workspace()).slug)).key;
});
afterAll(async () => {
  agent.destroy();
  await stack.close();
});

async function ask(model: string, prompt = 'Hello'): Promise<{ status: number; id: string; said: string }> {
  const answer = Promise.withResolvers<IncomingMessage>();
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: prompt }] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const asked = request(
    `${stack.url}/v1/chat/completions`,
    { method: 'POST', agent, headers },
    answer.resolve,
  );
  asked.on('error', answer.reject).end(body);
  const got = await answer.promise;
  return { status: got.statusCode ?? 0, id: String(got.headers['x-request-id']), said: await text(got) };
}

/** @param most how many files the gateway may have open from now on: those that are stay. */
function limitFiles(most: number): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${stack.gateway().pid}`, `--nofile=${most}:20000`]);
  expect(String(stderr)).toBe('');
  expect(status).toBe(0);
}

const canLimit = spawnSync('prlimit', ['--version']).status === 0;

it.skipIf(!canLimit)(
  'a gateway without a file left refuses, and blames no provider (contract: call-log/machine-faults)',
  async () => {
    // Key and money are known then, and no connection to the provider is kept.
    expect((await ask('sandbox/echo', '[[fault/close-before-headers]]')).status).toBe(502);
    limitFiles(3);
    // Uses the connection that was opened ahead; there cannot be another.
    await ask('sandbox/echo', '[[fault/close-before-headers]]');
    // It has two offers.
    const refused = await ask('test/mixed-budgets');
    limitFiles(20_000);
    expect(refused.status).toBe(500);
    expect(JSON.parse(refused.said)).toMatchObject({ error: { code: 'local_quota_not_configured' } });
    expect(await stack.call(refused.id)).toMatchObject({
      status: 500,
      errorCode: 'local_quota_not_configured',
      endReason: 'refused',
      cost: '0',
      flags: ['machine_files'],
      attempts: [{ status: null, error: 'machine_files', possibleDuplicate: false }],
    });
    expect(stack.log()).toContain('"fault":"machine_files"');
    expect((await ask('test/mixed-budgets')).status).toBe(200);
    await expectBalancedBooks(stack);
  },
);
