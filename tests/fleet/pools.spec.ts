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
const names = ['default', 'l1', 'l2', 'l3', 'wrong', 'silent', 'g1', 'g2', 'g3', 'g4', 'own', 'late', 'solo'];
/** Of those that can serve; the others are drawn far more often. */
const weights = { default: 1, g1: 1, g2: 2, g3: 3, g4: 3 };
/** `FLEET_POOL_CALLS=10000` for shares within two percentage points; of fewer calls, they scatter more. */
const calls = Number(process.env.FLEET_POOL_CALLS ?? 2_000);
/** Requests a minute of "own". */
const ownRpm = 40;
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
const arrived: { readonly name: string; readonly what: string; readonly atMono: number }[] = [];
const videos = new Map<string, string>();

const server = createServer((request, response) => {
  request.resume();
  const given = (request.headers.authorization ?? '').slice('Bearer '.length);
  const name = names.find((one) => secretOf(one) === given) ?? '';
  arrived.push({ name, what: `${request.method} ${request.url}`, atMono: performance.now() });
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
providers:
  - { id: pool, name: Pool, families: { chat: "${url}", videos: "${url}" }, credential: { env: ${variableOf('default')} } }
  - { id: solo, name: Solo, families: { chat: "${url}" }, credential: { env: ${variableOf('solo')} } }
models:
  - { id: pool/m, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: pool, upstreamModel: m, families: [chat], price: { input: "1", output: "4" } }] }
  - { id: solo/m, name: S, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: solo, upstreamModel: m, families: [chat], price: { input: "1", output: "4" } }] }
  - { id: pool/film, name: Film, contextTokens: 0, maxOutputTokens: 0, input: [text], output: [video],
      offers: [{ provider: pool, upstreamModel: film, families: [videos], price: { videoSecond: "0.1" } }] }
`;
  await operate(stack.db, applyCatalogue, { files: [{ name: 'pool.yaml', text }] });
  const bad = names.filter((name) => /^(l\d|wrong|silent)$/.test(name));
  for (const name of bad) await credential(name, { env: variableOf(name), weight: 20 });
  for (const [name, weight] of Object.entries(weights))
    await credential(name, { ...(name === 'default' ? {} : { env: variableOf(name) }), weight });
  await credential('own', { env: variableOf('own'), weight: 20, rpm: ownRpm });
  await operate(stack.db, setCredential, { provider: 'solo', rpm: 1 });
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

const call = (client: Client, model = 'pool/m') => client.ask(key, { model });
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
    const already = Object.keys(weights).map(count);
    const statuses = await load(calls / 40);
    expect(statuses.length).toBe(calls);
    expect(new Set(statuses)).toEqual(new Set([200]));
    // Once in each process, and probes of what was refused or hung.
    for (const name of ['l1', 'l2', 'l3']) expect(count(name)).toBeLessThanOrEqual(clients.length * 10);
    const limited = ['l1', 'l2', 'l3'].map(count);
    const before = [...limited];
    expect(new Set(await load(5))).toEqual(new Set([200]));
    expect(['l1', 'l2', 'l3'].map(count)).toEqual(before);
    const served = Object.keys(weights).map((name, at) => count(name) - (already[at] ?? 0));
    const all = served.reduce((sum, one) => sum + one, 0);
    const points = Object.values(weights).map((weight, at) => (100 * (served[at] ?? 0)) / all - 10 * weight);
    process.stdout.write(
      `arrived: limited ${limited}, wrong ${count('wrong')}, silent ${count('silent')}, own ${count('own')}, served ${served}, points off ${points.map((one) => one.toFixed(2))}\n`,
    );
    // More than four standard deviations of the largest share.
    expect(Math.max(...points.map(Math.abs))).toBeLessThan(Math.max(2, 420 * Math.sqrt(0.21 / all)));
  });

  it('a credential’s own limit holds over all processes, and no client sees it (contract: limits/credentials)', () => {
    const times = arrived.filter(({ name }) => name === 'own').map(({ atMono }) => atMono);
    expect(times.length).toBeGreaterThanOrEqual(ownRpm / 2);
    // On a busy machine, the store may be too late for one process, which then admits its share on top (contract: limits/store-away).
    const most = ownRpm + ownRpm / clients.length;
    // A minute by the store's clock, less what a request may be late here.
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 59_000).length).toBeLessThanOrEqual(most);
  });

  it('if all are at their limits, the answer is 429 with Retry-After, and no provider is called', async () => {
    const answers = [];
    for (const client of clients) answers.push(await call(client, 'solo/m'));
    const statuses = answers.map(({ status }) => status);
    const served = statuses.filter((status) => status === 200).length;
    // As above: on a busy machine, one process may admit its share on top.
    expect([1, 2]).toContain(served);
    expect(statuses.filter((status) => status === 429).length).toBe(clients.length - served);
    expect(count('solo')).toBe(served);
    const refused = await fetch(`${stack.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...json },
      body: JSON.stringify({ model: 'solo/m', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(await refused.json()).toMatchObject({ error: { code: 'provider_limit_exceeded' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
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
