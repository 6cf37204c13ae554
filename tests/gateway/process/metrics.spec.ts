import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessStatus } from '#lib/gateway/metrics/status';
import { overheadBoundsMs } from '#lib/gateway/metrics/tally';
import { addChains } from '#tests/gateway/routing/chains';
import { expectBalancedBooks } from '#tests/support/books';
import { ask, askChat, bearer, whileOneRuns } from '#tests/support/chat-call';
import { type CommandLine, commandLine } from '#tests/support/command';
import { eventually, insist } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import { type OwnStack, type Stack, secrets, startStack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const token = 'a token for scrapes';
let stack: OwnStack;
let gateway: CommandLine;
let workspace: { id: string; slug: string };
let key: { id: string; key: string };

beforeAll(async () => {
  stack = await startStack({ console: true, env: { METRICS_TOKEN: token } });
  gateway = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
  workspace = await stack.workspace({ rpm: null, tpm: null, concurrency: null });
  key = await stack.key(workspace.slug);
  await addChains(stack, { 'metrics/breaks': ['fault/status-500?times=5', 'echo?tokens=30'] });
});
afterAll(async () => {
  await expectBalancedBooks(stack);
  gateway.close();
  await stack.close();
});

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

async function scrapeText(): Promise<string> {
  const answer = await ask(stack.url, 'GET', '/api/metrics', bearer(token));
  expect(answer.status).toBe(200);
  return answer.body.toString();
}

/** Every line of a scrape; one that is none of the format fails. */
async function scrape(): Promise<Sample[]> {
  const lines = (await scrapeText()).split('\n').filter((line) => line !== '' && !line.startsWith('# '));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] =
      /^([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$/.exec(line) ?? [];
    expect(name, line).not.toBe('');
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    const read = Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text]));
    return { name, labels: read, value: Number(value) };
  });
}

/** Value of the one sample with these labels; null when there is none. */
function sampleOf(samples: readonly Sample[], name: string, labels: object = {}): number | null {
  const wanted = Object.entries(labels);
  const found = samples.filter(
    (one) => one.name === name && wanted.every(([label, text]) => one.labels[label] === text),
  );
  expect(found.length).toBeLessThan(2);
  return found[0]?.value ?? null;
}

async function read(name: string, labels: object = {}): Promise<number | null> {
  return sampleOf(await scrape(), name, labels);
}

/** All that has ended is in the database. */
async function settled(): Promise<void> {
  await eventually(async () => {
    const samples = await scrape();
    return ['gateway_calls_in_flight', 'gateway_journal_backlog_calls'].map((name) =>
      sampleOf(samples, name),
    );
  }, [0, 0]);
}

describe('a request for metrics (contract: operations/health)', () => {
  it('gets them in Prometheus text format for the token, with or without a query', async () => {
    for (const target of ['/api/metrics', '/api/metrics?name=x']) {
      const answer = await ask(stack.url, 'GET', target, bearer(token));
      expect(answer.status).toBe(200);
      expect(headerOf(answer, 'content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(headerOf(answer, 'cache-control')).toBe('no-store');
      expect(answer.body.toString()).toContain('# TYPE gateway_calls_total counter\n');
    }
  });

  it('is told to send the token if it is missing or wrong', async () => {
    const others = [token.slice(1), `${token}x`, '', key.key];
    for (const headers of [{}, { Authorization: token }, ...others.map(bearer)]) {
      const answer = await ask(stack.url, 'GET', '/api/metrics', headers);
      expect(answer.status).toBe(401);
      expect(headerOf(answer, 'www-authenticate')).toBe('Bearer');
      expect(answer.body.toString()).toContain('METRICS_TOKEN');
      expect(answer.body.toString()).not.toContain(token);
    }
  });

  it('can only read them', async () => {
    const answer = await ask(stack.url, 'POST', '/api/metrics', bearer(token));
    expect([answer.status, headerOf(answer, 'allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a gateway without a token for metrics', () => {
  let closed: Stack;
  beforeAll(async () => {
    closed = await joinStack();
  });
  afterAll(() => closed.close());

  it('refuses them even to its own machine, says what to set, and still answers about its health', async () => {
    for (const headers of [{}, bearer(''), bearer(token)]) {
      const answer = await ask(closed.url, 'GET', '/api/metrics', headers);
      expect(answer.status).toBe(403);
      expect(answer.body.toString()).toContain('Set METRICS_TOKEN');
    }
    expect((await ask(closed.url, 'GET', '/api/health')).status).toBe(200);
  });
});

describe('a breaker that opens', () => {
  const first = { model: 'metrics/breaks', provider: 'first-metrics-breaks' };
  const second = { model: 'metrics/breaks', provider: 'second-metrics-breaks' };
  const answerer = async () => {
    const asked = await askChat(stack.url, key.key, { model: 'metrics/breaks' });
    return headerOf(asked.answer, 'x-answered-provider');
  };
  const stateOf = (samples: readonly Sample[], offer: object) =>
    ['in service', 'set aside', 'probing'].filter(
      (state) => sampleOf(samples, 'gateway_offer_state', { ...offer, state }) === 1,
    );

  it('shows in the metrics, beside the offer that took its place, until a probe succeeds', async () => {
    expect(stateOf(await scrape(), first)).toEqual([]);
    for (let call = 1; call <= 4; call += 1) await answerer();
    expect(stateOf(await scrape(), first)).toEqual(['in service']);
    await answerer();
    const open = await scrape();
    expect(stateOf(open, first)).toEqual(['set aside']);
    expect(sampleOf(open, 'gateway_offer_error_ratio', first)).toBeCloseTo(1 - 0.8 ** 5, 6);
    expect(sampleOf(open, 'gateway_offer_back_in_seconds', first)).toBeGreaterThan(0);
    expect(sampleOf(open, 'gateway_offer_back_in_seconds', first)).toBeLessThanOrEqual(10);
    expect(sampleOf(open, 'gateway_offer_first_byte_seconds', first)).toBeNull();
    expect(stateOf(open, second)).toEqual(['in service']);
    expect(sampleOf(open, 'gateway_offer_error_ratio', second)).toBe(0);
    const firstByte = sampleOf(open, 'gateway_offer_first_byte_seconds', { ...second, answer: 'whole' });
    expect(firstByte).toBeGreaterThan(0);
    expect(firstByte).toBeLessThan(5);
    expect(sampleOf(open, 'gateway_offer_output_tokens_per_second', second)).toBeGreaterThan(0);

    const { processes } = await insist(() => gateway.json<{ processes: ProcessStatus[] }>('health'));
    expect(processes.map((one) => one.pid)).toEqual([stack.gateway().pid]);
    expect(processes[0]).toMatchObject({ ready: true, callsInFlight: 0 });
    const told = processes[0]?.offers.filter((one) => one.model === 'metrics/breaks');
    expect(told).toMatchObject([
      // The commands may take longer than the breaker's first 10 s.
      { provider: first.provider, state: expect.stringMatching(/^(set aside|probing)$/), wholeMs: null },
      { provider: second.provider, state: 'in service', errorRate: 0 },
    ]);
    expect(told?.[0]?.errorRate).toBeCloseTo(1 - 0.8 ** 5, 6);
    expect(told?.[1]?.wholeMs).toBeGreaterThan(0);
    const shown = await insist(async () => {
      const ran = await gateway.run('health');
      expect(ran).toMatchObject({ exit: 0, err: '' });
      return ran;
    });
    expect(shown.out).toMatch(/first-metrics-breaks +(set aside, \d+ s|probing) +67% /);
    expect(shown.out).toMatch(/second-metrics-breaks +in service +0% +none +\d+ ms /);

    await eventually(async () => stateOf(await scrape(), first), ['probing']);
    expect(await answerer()).toBe(first.provider);
    expect(stateOf(await scrape(), first)).toEqual(['in service']);
  });
});

describe('while a call runs', () => {
  it('it is counted, with its hold in a lease that the database has, and gone when it has ended', async () => {
    await settled();
    const [running, leased] = await whileOneRuns(stack, key.key, async () => {
      const samples = await scrape();
      const { rows } = await stack.db.pool.query<{ dollars: number }>(
        "SELECT sum(granted_nano)::float8 / 1e9 AS dollars FROM lease WHERE kind = 'workspace'",
      );
      return [samples, rows[0]?.dollars ?? 0] as const;
    });
    expect(sampleOf(running, 'gateway_calls_in_flight')).toBe(1);
    expect(sampleOf(running, 'gateway_ready')).toBe(1);
    expect(sampleOf(running, 'gateway_offer_attempts_running', { model: 'sandbox/echo' })).toBe(1);
    expect(sampleOf(running, 'gateway_leases', { kind: 'workspace' })).toBe(1);
    const held = sampleOf(running, 'gateway_leases_held_dollars', { kind: 'workspace' }) ?? 0;
    expect(held).toBeGreaterThan(0);
    const granted = sampleOf(running, 'gateway_leases_granted_dollars', { kind: 'workspace' });
    expect(granted).toBeGreaterThan(held);
    // Memory never believes in more than the rows say.
    expect(granted).toBeLessThanOrEqual(leased);
    expect(sampleOf(running, 'gateway_leases_granted_dollars', { kind: 'key' })).toBe(0);
    await settled();
    expect(await read('gateway_leases_held_dollars', { kind: 'workspace' })).toBe(0);
    expect(await read('gateway_leases_unposted_dollars', { kind: 'workspace' })).toBe(0);
  });

  it('connections to the database and the lag of the event loop are in the metrics too', async () => {
    const samples = await scrape();
    const connections = (state: string) => sampleOf(samples, 'gateway_database_connections', { state }) ?? -1;
    expect(connections('open')).toBeGreaterThan(0);
    expect(connections('idle')).toBeLessThanOrEqual(connections('open'));
    expect(connections('waiting')).toBe(0);
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']) {
      expect(sampleOf(samples, name), name).toBeGreaterThan(0);
    }
  });
});

describe('the counters', () => {
  it('agree with the call log to the last call, however calls end', async () => {
    const asks = (fields: Parameters<typeof askChat>[2], options: Parameters<typeof askChat>[3] = {}) =>
      askChat(stack.url, key.key, fields, options);
    await Promise.all(Array.from({ length: 12 }, () => asks({})));
    await asks({ stream: true });
    await asks({ model: 'test/closed' });
    await asks({ directive: 'fault/status-400' });
    await asks({ stream: true, directive: 'pace/50/400' }, { leaveWhen: (raw) => raw.includes('data:') });
    await asks({ model: 'made/up' });
    const limited = await stack.key(workspace.slug, { rpm: 1 });
    await ask(stack.url, 'GET', '/v1/models', bearer(limited.key));
    await ask(stack.url, 'GET', '/v1/models', bearer(limited.key));
    await settled();

    const samples = await scrape();
    const { rows } = await stack.db.pool.query<{ labels: object; count: number }>(
      `SELECT json_build_object('family', family, 'operation', operation, 'status', status / 100 || 'xx',
         'end_reason', end_reason) AS labels, count(*)::int AS count
       FROM call GROUP BY family, operation, status / 100, end_reason`,
    );
    const counted = samples.filter((one) => one.name === 'gateway_calls_total');
    expect(new Set(counted.map((one) => one.labels.end_reason))).toEqual(
      new Set(['completed', 'refused', 'upstream_error', 'client_gone']),
    );
    expect(counted.length).toBe(rows.length);
    for (const { labels, count } of rows) {
      expect(sampleOf(counted, 'gateway_calls_total', labels), JSON.stringify(labels)).toBe(count);
    }

    const overhead = await stack.db.pool.query<{ ms: number }>('SELECT overhead_ms AS ms FROM call');
    const all = overhead.rows.map((row) => row.ms);
    const bounds = [...overheadBoundsMs, Number.POSITIVE_INFINITY];
    const inBuckets = samples.filter((one) => one.name === 'gateway_overhead_seconds_bucket');
    expect(inBuckets.map((one) => one.value)).toEqual(bounds.map((b) => all.filter((ms) => ms <= b).length));
    expect(sampleOf(samples, 'gateway_overhead_seconds_count')).toBe(all.length);
    expect(sampleOf(samples, 'gateway_overhead_seconds_sum')).toBeCloseTo(
      all.reduce((a, b) => a + b, 0) / 1000,
      6,
    );
  });

  it('distinguish refusals that leave no row in the log', async () => {
    const code = 'invalid_api_key';
    const before = (await read('gateway_turned_away_total', { code })) ?? 0;
    await askChat(stack.url, `${key.key}x`, {});
    await ask(stack.url, 'GET', '/v1/no-such-thing');
    expect(await read('gateway_turned_away_total', { code })).toBe(before + 1);
    expect(await read('gateway_turned_away_total', { code: 'not_found' })).toBe(1);
  });
});

describe('what the metrics say', () => {
  it('contains no secret, key, workspace or text of a client', async () => {
    const made = ['made/up-model', 'made-up-operation'];
    await askChat(stack.url, key.key, { model: made[0] }, { headers: { 'X-Request-Id': 'made-up-id' } });
    await ask(stack.url, 'GET', `/v1/${made[1]}`, bearer(key.key));
    const text = await scrapeText();
    const secret = [key.key, key.id, workspace.id, workspace.slug, token, stack.sandbox.key, 'made-up-id'];
    for (const one of [...secret, ...made, ...Object.values(secrets)]) expect(text).not.toContain(one);
  });

  it('has labels that code and catalogue bound', async () => {
    const names = new Set(
      (await scrape())
        .filter((one) => one.name.startsWith('gateway_'))
        .flatMap((one) => Object.keys(one.labels)),
    );
    const bounded = [
      'family',
      'operation',
      'status',
      'end_reason',
      'code',
      'le',
      'model',
      'provider',
      'credential',
    ];
    expect([...names].sort()).toEqual([...bounded, 'state', 'answer', 'kind', 'event', 'version'].sort());
  });
});

describe('gateway health (contract: operations/health)', () => {
  it('says so when no gateway runs on the data directory', async () => {
    const alone = commandLine(stack.databaseUrl);
    const ran = await alone.run('health', '--json');
    expect(ran).toMatchObject({ exit: 1, out: '' });
    expect(ran.err).toContain('no gateway process is running');
    alone.close();
  });
});
