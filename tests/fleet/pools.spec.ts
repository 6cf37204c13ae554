import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { setCredential } from '#lib/control/operations/provider/credential';
import { operate, setPolicy } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { Client } from '#tests/support/fleet/client';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { type OwnStack, startStack } from '#tests/support/stack';

/** The credentials of provider "pool" by name, as the variables of the gateways have them. */
const names = ['default', 'l1', 'l2', 'l3', 'wrong', 'silent', 'g1', 'g2', 'g3', 'g4', 'late'];
const secretOf = (name: string) => `sk-pool-${name}-0123456789abcdef`;
const variableOf = (name: string) => `POOL_KEY_${name.toUpperCase()}`;
const environment = Object.fromEntries(names.map((name) => [variableOf(name), secretOf(name)]));
const json = { 'content-type': 'application/json' };
const answer = {
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

/** What reached the provider, by credential; and which of them made a video. */
const arrived: { readonly name: string; readonly what: string }[] = [];
const videos = new Map<string, string>();

const server = createServer((request, response) => {
  request.resume();
  const given = (request.headers.authorization ?? '').slice('Bearer '.length);
  const name = names.find((one) => secretOf(one) === given) ?? '';
  arrived.push({ name, what: `${request.method} ${request.url}` });
  if (name === 'silent') return;
  if (name.startsWith('l1') || name.startsWith('l2') || name.startsWith('l3')) {
    response.writeHead(429, { ...json, 'retry-after': '600' }).end('{"error":{"message":"slow down"}}');
  } else if (name === 'wrong') {
    response.writeHead(401, json).end(`{"error":{"message":"Incorrect API key provided: ${given}"}}`);
  } else if (request.url?.includes('/videos')) answerVideo(request, response, name);
  else request.on('end', () => response.writeHead(200, json).end(JSON.stringify(answer)));
});

/** As two accounts of a provider do it: what one has made does not exist for the other. */
function answerVideo({ method, url = '' }: IncomingMessage, response: ServerResponse, name: string): void {
  const asked = url.split('/').at(-1) ?? '';
  const id = method === 'POST' ? `video_${videos.size + 1}` : asked;
  if (method === 'POST') videos.set(id, name);
  const video = { id, object: 'video', model: 'film', status: 'in_progress', seconds: '4', created_at: 1 };
  if (videos.get(id) === name) response.writeHead(200, json).end(JSON.stringify(video));
  else response.writeHead(404, json).end('{"error":{"message":"no such video"}}');
}

let stack: OwnStack;
let others: Second[] = [];
let clients: Client[] = [];
let key = '';
const credential = (name: string, more: object = {}) =>
  operate(stack.db, setCredential, { provider: 'pool', ...(name === 'default' ? {} : { name }), ...more });

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1`;
  stack = await startStack({ env: { ...environment, LOG_LEVEL: 'info', METRICS_TOKEN: 'reads-metrics' } });
  const text = `
providers: [{ id: pool, name: Pool, families: { chat: "${url}", videos: "${url}" }, credential: { env: ${variableOf('default')} } }]
models:
  - { id: pool/m, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: pool, upstreamModel: m, families: [chat], price: { input: "1", output: "4" } }] }
  - { id: pool/film, name: Film, contextTokens: 0, maxOutputTokens: 0, input: [text], output: [video],
      offers: [{ provider: pool, upstreamModel: film, families: [videos], price: { videoSecond: "0.1" } }] }
`;
  await operate(stack.db, applyCatalogue, { files: [{ name: 'pool.yaml', text }] });
  const bad = names.filter((name) => /^(l\d|wrong|silent)$/.test(name));
  for (const name of bad) await credential(name, { env: variableOf(name), weight: 20 });
  for (const name of ['g1', 'g2', 'g3', 'g4']) await credential(name, { env: variableOf(name) });
  const { slug } = await stack.workspace();
  key = (await stack.key(slug)).key;
  // The one that hangs is given up soon.
  await setPolicy(stack.db, { workspace: slug, policy: { timeouts: { firstByteWholeMs: 4_000 } } });
  others = await Promise.all([startSecond(stack), startSecond(stack), startSecond(stack)]);
  clients = [stack, ...others].map(({ url: gateway }) => new Client(gateway));
  await stack.announce();
});
afterAll(async () => {
  for (const client of clients) client.close();
  for (const other of others) await other.close();
  await stack.close();
  server.closeAllConnections();
  server.close();
});

const call = (client: Client) => client.ask(key, { model: 'pool/m' });
const count = (name: string) => arrived.filter((one) => one.name === name).length;

/** All clients call, each this many times with ten at once. */
async function load(calls: number, until: () => boolean = () => false): Promise<number[]> {
  const statuses: number[] = [];
  const caller = async (client: Client) => {
    for (let at = 0; at < calls && !until(); at += 1) statuses.push((await call(client)).status);
  };
  await Promise.all(clients.flatMap((client) => Array.from({ length: 10 }, () => caller(client))));
  return statuses;
}

describe('ten credentials over four processes, of which three are limited, one is refused and one hangs', () => {
  it('no client sees one of them, and each process turns to them no more (contract: routing/next-credential)', async () => {
    // One after the other, so that each process meets them; their weight makes that likely at once.
    for (const client of clients)
      for (let at = 0; at < 3; at += 1) expect((await call(client)).status).toBe(200);
    const statuses = await load(25);
    expect(statuses.length).toBe(1_000);
    expect(new Set(statuses)).toEqual(new Set([200]));
    // Once in each process, and probes of what was refused or hung.
    for (const name of ['l1', 'l2', 'l3']) expect(count(name)).toBeLessThanOrEqual(clients.length * 10);
    const limited = ['l1', 'l2', 'l3'].map(count);
    const before = [...limited];
    expect(new Set(await load(5))).toEqual(new Set([200]));
    expect(['l1', 'l2', 'l3'].map(count)).toEqual(before);
    const served = ['default', 'g1', 'g2', 'g3', 'g4'].map(count);
    process.stdout.write(
      `arrived: limited ${limited}, wrong ${count('wrong')}, silent ${count('silent')}, served ${served}\n`,
    );
    expect(Math.min(...served)).toBeGreaterThan(0);
  });

  it('a credential is exchanged under load without a failed call (contract: routing/withdrawn-credential)', async () => {
    let ended = false;
    const running = load(Number.POSITIVE_INFINITY, () => ended);
    await credential('late', { env: variableOf('late'), weight: 5 });
    await stack.announce();
    await eventually(() => count('late') > 0, true);
    await credential('default', { withdrawn: true });
    await stack.announce();
    // Every process has heard of it as soon as others get a hundred calls, and it gets none.
    await eventually(async () => {
      const before = [count('default'), count('late')];
      await eventually(() => count('late') > (before[1] ?? 0) + 100, true);
      return count('default') === before[0];
    }, true);
    ended = true;
    expect(new Set(await running)).toEqual(new Set([200]));
  });

  it('a job is polled by the credential that began it, withdrawn or not, also after a restart (contract: jobs/pinning)', async () => {
    const ask = (url: string, path = '', body?: object) =>
      fetch(`${url}/v1/videos${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, ...json },
        ...(body && { body: JSON.stringify(body) }),
      });
    const begun: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      const made = await ask(stack.url, '', { model: 'pool/film', prompt: 'a film', seconds: '4' });
      expect(made.status).toBe(200);
      begun.push((await made.json()).id);
    }
    for (const name of ['g1', 'g2', 'g3', 'late']) await credential(name, { withdrawn: true });
    await stack.kill('SIGKILL');
    await stack.start();
    arrived.length = 0;
    for (const url of [stack.url, ...others.map((other) => other.url)])
      for (const id of begun) expect((await ask(url, `/${id}`)).status).toBe(200);
    // And by the gateway itself, in whichever process.
    const polls = () => arrived.filter(({ what }) => begun.some((id) => what.endsWith(id)));
    await eventually(() => polls().length > begun.length * 4, true);
    for (const { name, what } of polls()) expect(name).toBe(videos.get(what.split('/').at(-1) ?? ''));
  });

  it('no secret is in a log, a metric or a row', async () => {
    const metrics = await fetch(`${stack.url}/api/metrics`, {
      headers: { authorization: 'Bearer reads-metrics' },
    });
    const text = await metrics.text();
    const { rows } = await stack.db.pool.query(
      'SELECT (SELECT json_agg(c) FROM call c)::text || (SELECT json_agg(a) FROM audit a)::text AS text',
    );
    expect(rows[0].text).toContain('"wrong"');
    const written = [text, rows[0].text, stack.log(), ...others.map((other) => other.log())].join('\n');
    for (const name of names) expect(written).not.toContain(secretOf(name));
  });
});
