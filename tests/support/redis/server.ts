import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { freePort } from '#tests/support/run/free-port';

/** The test's own Redis, or a part of TEST_REDIS_URL, where each test uses its own keys. */
export interface TestRedis {
  readonly url: string;
  /** Whether it can be stopped: not if others use it too. */
  readonly freezes: boolean;
  /** From now on it does not answer, until `thaw`. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

export async function startRedis(): Promise<TestRedis> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, freezes: false, freeze: ignore, thaw: ignore, close: async () => ignore() };
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  probe.on('error', ignore);
  await probe.ping();
  probe.disconnect();
  return {
    url,
    freezes: true,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    close: async () => {
      server.kill('SIGCONT');
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
    },
  };
}

function ignore(): void {}

/** The same Redis with Upstash's interface: a command as JSON, its answer as JSON. */
export async function startRest(
  redisUrl: string,
  token: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const redis = new Redis(redisUrl);
  const run = async ([name = '', ...words]: string[]) => {
    // Only Upstash's own server knows this flag of a script, and without it a script has another hash.
    const [first = '', ...rest] = words;
    const plain = /^evalsha$/i.test(name)
      ? []
      : [first.replace(/^#!lua flags=allow-key-locking\n/, ''), ...rest];
    if (plain.length === 0) return { error: 'NOSCRIPT No matching script.' };
    return redis.call(name, ...plain).then(
      (result) => ({ result: encoded(result) }),
      (error: Error) => ({ error: error.message }),
    );
  };
  // Only clients close connections: if the server did, a client might be writing at that moment.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const say = (status: number, answer: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    };
    if (request.headers.authorization !== `Bearer ${token}`) return say(401, { error: 'Unauthorized' });
    const sent = JSON.parse(body);
    if (request.url?.startsWith('/pipeline')) return say(200, await Promise.all(sent.map(run)));
    const answer = await run(sent);
    say('error' in answer ? 400 : 200, answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      redis.disconnect();
    },
  };
}

/** Strings are sent in base64, as the client requests. */
function encoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encoded);
  return typeof value === 'string' && value !== 'OK' ? Buffer.from(value).toString('base64') : value;
}
