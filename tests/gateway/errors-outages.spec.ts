import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { nodeLane } from '#lib/gateway/flow/node-lane';
import { setRuntime } from '#lib/gateway/flow/runtime';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { webLane } from '#lib/gateway/flow/web-lane';
import { createIds } from '#lib/platform/ids';
import { makeKey } from '#lib/platform/secrets';
import { askResponses } from '#tests/gateway/responses/call';
import { expectBalancedBooks } from '#tests/support/books';
import { ask, askChat, bearer, codeOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { type OwnStack, root, startStack } from '#tests/support/stack';

const hello = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] });

describe('when the database is away (contract: durability/database-away)', () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterEach(() => stack.databaseProxy.restore());
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
  });

  async function ownKey(): Promise<string> {
    const { slug } = await stack.workspace();
    return (await stack.key(slug)).key;
  }

  /** Asks until the database is known to be back. */
  async function untilServed(key: string): Promise<void> {
    await eventually(async () => (await ask(stack.url, 'GET', '/v1/models', bearer(key))).status, 200);
  }

  it('a stored response that would settle its call’s estimate is withheld', async () => {
    const key = await ownKey();
    let responseId = '';
    const leaveWhen = (raw: string) => {
      responseId = /"id":"(resp_[0-9a-f]+)"/.exec(raw)?.[1] ?? '';
      return responseId !== '';
    };
    const left = await askResponses(
      stack.url,
      key,
      { stream: true, directive: 'pace/200/200' },
      { leaveWhen },
    );
    expect(await stack.call(left.id)).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated' });
    const retrieve = () => ask(stack.url, 'GET', `/v1/responses/${responseId}`, bearer(key));
    stack.databaseProxy.cut();
    expectRefusal(await retrieve(), 'local_quota_not_configured', key);
    stack.databaseProxy.restore();
    await eventually(async () => (await retrieve()).status, 200);
    expect(await stack.call(left.id)).toMatchObject({ usageSource: 'reported' });
  });

  it('a key in memory is served from its lease, another cannot be resolved, and look-ups cool down', async () => {
    const [known, unknown, third] = [await ownKey(), await ownKey(), await ownKey()];
    expect((await askChat(stack.url, known, {})).answer.status).toBe(200);
    stack.databaseProxy.cut();
    expectRefusal(await ask(stack.url, 'GET', '/v1/models', bearer(unknown)), 'auth_resolve_failed', unknown);
    // A cool-down of 1 s may be over before the next request is there; each next one lasts longer.
    const lookUp = () => ask(stack.url, 'GET', '/v1/models', bearer(third));
    let cooled = await lookUp();
    while (codeOf(cooled) === 'auth_resolve_failed') cooled = await lookUp();
    expectRefusal(cooled, 'hydrate_cooldown', third);
    const served = await askChat(stack.url, known, {});
    expect(served.answer.status).toBe(200);
    expect((await ask(stack.url, 'GET', '/v1/models', bearer(known))).status).toBe(200);
    stack.databaseProxy.restore();
    await untilServed(third);
    await untilServed(unknown);
    expect(await stack.call(served.id), 'its row waited in the journal').toMatchObject({ status: 200 });
  });

  it('money that no lease covers is local_quota_not_configured, never a 402', async () => {
    const key = await ownKey();
    expect((await ask(stack.url, 'GET', '/v1/models', bearer(key))).status).toBe(200);
    stack.databaseProxy.cut();
    const asked = await askChat(stack.url, key, {});
    expectRefusal(asked.answer, 'local_quota_not_configured', key);
    stack.databaseProxy.restore();
    await eventually(async () => (await askChat(stack.url, key, {})).answer.status, 200);
    expect(await stack.call(asked.id)).toMatchObject({ errorCode: 'local_quota_not_configured', cost: '0' });
  });

  it('a database that does not answer is away after 2 s', async () => {
    const key = await ownKey();
    stack.databaseProxy.freeze();
    expectRefusal(await ask(stack.url, 'GET', '/v1/models', bearer(key)), 'auth_resolve_failed', key);
    stack.databaseProxy.restore();
    await untilServed(key);
  });

  it('an unknown key never starts a cool-down', async () => {
    const key = await ownKey();
    for (let n = 0; n < 20; n += 1) {
      expectRefusal(await ask(stack.url, 'GET', '/v1/models', bearer(makeKey())), 'invalid_api_key');
    }
    expect((await ask(stack.url, 'GET', '/v1/models', bearer(key))).status).toBe(200);
  });
});

describe('when the disk is full', () => {
  it('no call is admitted any more, each is told so, and what ran before is charged', async () => {
    const stack = await startStack({ fileKiB: 48 });
    try {
      const { slug } = await stack.workspace();
      const { key } = await stack.key(slug);
      const served: string[] = [];
      let refused = await askChat(stack.url, key, {});
      while (refused.answer.status === 200 && served.length < 200) {
        served.push(refused.id);
        refused = await askChat(stack.url, key, {});
      }
      expect(served.length).toBeGreaterThan(5);
      expectRefusal(refused.answer, 'local_quota_not_configured', key);
      for (let n = 0; n < 3; n += 1) {
        const asked = await askChat(stack.url, key, {});
        expectRefusal(asked.answer, 'local_quota_not_configured', key);
        expect(await stack.sandbox.seen(asked.mark), 'no provider was asked').toEqual([]);
        expect(await stack.call(asked.id)).toMatchObject({ errorCode: 'local_quota_not_configured' });
      }
      expect((await ask(stack.url, 'GET', '/api/health')).status).toBe(503);
      for (const id of served) expect(await stack.call(id)).toMatchObject({ status: 200 });
      await expectBalancedBooks(stack);
    } finally {
      await stack.close();
    }
  });
});

describe('when the wall clock is outside 2025 to 2100 (contract: request/no-request-id)', () => {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) server.close();
    setRuntime(null);
  });

  /** The pipeline in this process, at another time. */
  function runtimeAt(nowMs: number) {
    const ids = createIds({ now: () => nowMs, mono: () => 0 });
    return { ...unconfiguredRuntime(), newId: ids.newId, fallbackId: ids.fallbackId };
  }

  it.each([
    ['2024', Date.UTC(2024, 11, 31)],
    ['2100', Date.UTC(2100, 0, 1)],
    ['1970', 0],
  ])('in %s: identifier_generation_failed before anything else, on both lanes', async (_year, nowMs) => {
    const runtime = runtimeAt(nowMs);
    const server = createServer((request, response) => nodeLane(runtime, request, response)).listen(0);
    servers.push(server);
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const first = expectRefusal(await ask(url, 'GET', '/v1/nothing'), 'identifier_generation_failed');
    const second = expectRefusal(
      await ask(url, 'POST', '/v1/chat/completions', {}, hello),
      'identifier_generation_failed',
    );
    expect(second).not.toBe(first);
    setRuntime(runtime);
    const answer = await webLane(new Request(`${url}/v1/models`));
    const body = Buffer.from(await answer.arrayBuffer());
    const headers = [...answer.headers];
    const { status, statusText: reason } = answer;
    expectRefusal({ status, reason, headers, body, whole: true }, 'identifier_generation_failed');
  });
});

describe('a Next process without a database (contract: authentication/resolver)', () => {
  let host: ChildProcess;
  let url: string;
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    host = spawn(
      process.execPath,
      [join(root, 'node_modules/next/dist/bin/next'), 'start', '-p', String(port), '-H', '127.0.0.1'],
      {
        cwd: root,
        stdio: 'ignore',
        env: { ...inherited(), NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
      },
    );
    await answers(url);
  });
  afterAll(async () => {
    host.kill('SIGTERM');
    if (host.exitCode === null) await once(host, 'exit');
  });

  it('a credential cannot be resolved: resolver_not_configured, after path, method and presence', async () => {
    const key = makeKey();
    const chat = (headers: Record<string, string>) =>
      ask(url, 'POST', '/v1/chat/completions', { ...headers, 'Content-Type': 'application/json' }, hello);
    expectRefusal(await chat(bearer(key)), 'resolver_not_configured', key);
    expectRefusal(await chat({ 'x-api-key': key }), 'resolver_not_configured', key);
    expectRefusal(await chat(bearer('malformed')), 'resolver_not_configured');
    expectRefusal(await chat({ Authorization: 'Basic eA==' }), 'resolver_not_configured');
    expectRefusal(await ask(url, 'GET', '/v1/models', bearer(key)), 'resolver_not_configured');
    expectRefusal(await chat({}), 'missing_platform_authorization');
    expectRefusal(await ask(url, 'GET', '/v1/completions', bearer(key)), 'method_not_allowed');
    expectRefusal(await ask(url, 'GET', '/v1/nothing', bearer(key)), 'not_found');
  });
});

/** Waits until something answers there as the gateway does. */
async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    const answer = await ask(url, 'GET', '/v1/nothing').catch(() => null);
    if (answer && codeOf(answer) === 'not_found') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing answers at ${url}`);
}
