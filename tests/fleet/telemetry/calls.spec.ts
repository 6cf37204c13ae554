import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tests/support/eventually';
import { Client, type Wish } from '#tests/support/fleet/client';
import { type OwnStack, startStack } from '#tests/support/stack';
import { type Collector, startCollector } from '#tests/support/telemetry/collector';
import type { ReceivedSpan } from '#tests/support/telemetry/decode';

const headerSecret = 'canary-of-the-collector';

let collector: Collector;
let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  collector = await startCollector();
  stack = await startStack({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-token=${headerSecret}`,
      LOG_LEVEL: 'info',
    },
  });
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await stack.close();
  await collector.leave();
});

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly end_reason: string;
  readonly cost: string;
  readonly hold: string;
  readonly provider: string | null;
  readonly answering_model: string | null;
  readonly client_request_id: string | null;
  readonly latency_ms: number;
  readonly attempts: number;
  readonly at: string;
}

/** The whole call log, as the spans of the same calls should say it. */
async function logged(): Promise<Row[]> {
  const { rows } = await stack.db.pool.query<
    Omit<Row, 'attempts'> & { readonly attempts: readonly unknown[] }
  >(
    `SELECT id, workspace_id, key_id, status, error_code, end_reason, cost_nano::text AS cost, hold_nano::text AS hold,
       provider, answering_model, client_request_id, latency_ms, attempts,
       (extract(epoch FROM at) * 1000)::bigint::text AS at
     FROM call ORDER BY id`,
  );
  return rows.map((row) => ({ ...row, attempts: row.attempts.length }));
}

function rowOf({ attributes, traceId, start }: ReceivedSpan, attempts: number): Row {
  const text = (name: string) => (name in attributes ? String(attributes[name]) : null);
  const whole = (name: string) => (text(name) ?? '').replace(/n$/, '');
  const id = text('model_gateway.call.id') ?? '';
  expect(traceId).toBe(id.replaceAll('-', ''));
  expect(attempts).toBe(Number(whole('model_gateway.attempts')));
  return {
    id,
    workspace_id: text('model_gateway.workspace.id') ?? '',
    key_id: text('model_gateway.key.id') ?? '',
    status: Number(whole('http.response.status_code')),
    error_code: text('model_gateway.error_code'),
    end_reason: text('model_gateway.end_reason') ?? '',
    cost: whole('model_gateway.cost.nano_usd'),
    hold: whole('model_gateway.hold.nano_usd'),
    provider: text('model_gateway.provider'),
    answering_model: text('gen_ai.response.model'),
    client_request_id: text('model_gateway.client_request_id'),
    latency_ms: Number(whole('model_gateway.latency_ms')),
    attempts,
    at: start.slice(0, -6),
  };
}

/** Every span that arrived, each id once. */
function arrived(): Row[] {
  const spans = new Map(collector.taken().map((span) => [`${span.traceId} ${span.spanId}`, span]));
  const attempts = Map.groupBy([...spans.values()], ({ parentSpanId, traceId }) =>
    parentSpanId === '' ? 'calls' : traceId,
  );
  const rows = (attempts.get('calls') ?? []).map((root) =>
    rowOf(root, attempts.get(root.traceId)?.length ?? 0),
  );
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

const wishes: readonly Wish[] = [
  {},
  { stream: true, directive: 'pace/5/5' },
  { model: 'test/falls-back' },
  { directive: 'fault/status-500' },
  { model: 'no/such-model' },
];

it('what arrives equals the call log, through kills and outages of the collector', async () => {
  const workspace = await stack.workspace({ rpm: 1_000_000, tpm: null, concurrency: null });
  const { key } = await stack.key(workspace.slug);
  const poor = await stack.key((await stack.workspace({ credit: '0' })).slug);
  const serve = async () => {
    const calls = wishes.flatMap((wish) => Array.from({ length: 6 }, () => client.ask(key, wish)));
    await Promise.all([...calls, client.ask(poor.key)]);
  };
  const kill = async () => {
    // Streams that run at the kill end as interrupted.
    let headed = 0;
    const streams = Array.from({ length: 5 }, () =>
      client.ask(key, { stream: true, directive: 'pace/200/500' }, () => headed++),
    );
    await eventually(() => headed, 5);
    await stack.kill('SIGKILL');
    await Promise.all(streams);
    await stack.start();
  };
  await serve();
  await kill();
  collector.be({ kind: 'answer', status: 503 });
  await serve();
  await kill();
  await serve();
  await collector.leave();
  await serve();
  await kill();
  await collector.come();
  await serve();
  // Five rounds of 31 calls, and three times five streams that a kill cut.
  const calls = 5 * 31 + 15;
  await eventually(async () => (await logged()).length, calls);
  await eventually(() => arrived().length, calls);
  const rows = await logged();
  expect(arrived()).toEqual(rows);
  expect(rows.filter((row) => row.end_reason === 'interrupted')).toHaveLength(15);
  const told = JSON.stringify(collector.deliveries.map(({ spans }) => spans));
  expect(told).not.toContain('Say something');
  expect(told).not.toContain(key);
  expect(stack.log()).not.toContain(headerSecret);
});
