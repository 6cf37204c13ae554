import { it as base, describe, expect } from 'vitest';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { eventually } from '#tests/support/eventually';
import { callOf, closeOf, newId, openOf, refusedOf } from '#tests/support/settlement';
import { type Collector, startCollector } from '#tests/support/telemetry/collector';
import { type Exporting, startExporting } from '#tests/support/telemetry/exporting';

interface Own {
  readonly collector: Collector;
  readonly start: (given?: Parameters<typeof startExporting>[1]) => Exporting;
}

/** Each test has a collector and exporters of its own. */
const it = base.extend<Own>({
  collector: async ({ task: _ }, use) => {
    const collector = await startCollector();
    await use(collector);
    await collector.leave();
  },
  start: async ({ collector }, use) => {
    const running: Exporting[] = [];
    await use((given) => {
      const made = startExporting(collector, given);
      running.push(made);
      return made;
    });
    for (const one of running) await one.stop();
  },
});

const customer = { workspaceId: newId(), keyId: newId() };
const callsOf = (count: number, given: Partial<CallRecord> = {}) =>
  Array.from({ length: count }, () => callOf(customer, given));
const until = (met: () => boolean, patienceMs = 120_000) => eventually(met, true, patienceMs);
const arrived = async (collector: Collector, calls: readonly CallRecord[]) => {
  await until(() => {
    const found = collector.calls();
    return calls.every(({ id }) => found.has(id));
  });
  return collector.calls();
};

// They wait more than they work: for time limits, pauses and threads.
describe.concurrent('the exporter', () => {
  it('sends each ended call with its attempts as compressed protobuf, and what it costs', async ({
    collector,
    start,
  }) => {
    const { serve, journal, ownerId } = start({
      settings: { headers: { authorization: 'Bearer of-tests' } },
    });
    const calls = callsOf(30);
    await serve(calls);
    const refusal = refusedOf(customer);
    const refused = refusal.call;
    await journal.append(refusal);
    const found = await arrived(collector, [...calls, refused]);
    expect(found.size).toBe(31);
    for (const call of calls) {
      const cost = `${call.costNano}n`;
      expect(found.get(call.id)?.attributes).toMatchObject({ 'model_gateway.cost.nano_usd': cost });
    }
    expect(found.get(refused.id)?.attributes).toMatchObject({ 'error.type': 'insufficient_balance' });
    const attempts = collector.taken().filter(({ kind }) => kind === 3);
    expect(attempts).toHaveLength(30);
    expect(attempts[0]?.attributes['server.address']).toBe('api.openai.example');
    expect(collector.deliveries[0]).toMatchObject({
      path: '/v1/traces',
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
        authorization: 'Bearer of-tests',
      },
    });
    expect(found.get(calls[0]?.id ?? '')?.resource).toEqual({
      'service.name': 'test',
      'service.version': '1.0.0',
      'service.instance.id': ownerId,
    });
  });

  it('sends nothing of calls that still run, and keeps no file that the collector has', async ({
    collector,
    start,
  }) => {
    const exporting = start({ rotateBytes: 20_000 });
    const open = callOf(customer);
    await exporting.journal.append(openOf(open));
    const calls = callsOf(200);
    await exporting.serve(calls);
    const found = await arrived(collector, calls);
    expect(found.has(open.id)).toBe(false);
    // The file that is being written stays.
    await until(() => exporting.shelved() < 60_000);
    await until(() => exporting.exporter.state().sent === 200);
    expect(exporting.exporter.state()).toMatchObject({ dropped: 0, skipped: 0 });
  });

  const troubles: readonly {
    readonly what: string;
    readonly timeoutMs?: number;
    readonly begin: (collector: Collector) => unknown;
    readonly end: (collector: Collector) => unknown;
  }[] = [
    {
      what: 'answers 503',
      begin: (collector) => collector.be({ kind: 'answer', status: 503 }),
      end: (collector) => collector.be({ kind: 'take' }),
    },
    {
      what: 'refuses connections',
      begin: (collector) => collector.leave(),
      end: (collector) => collector.come(),
    },
    {
      what: 'answers nothing',
      timeoutMs: 5_000,
      begin: (collector) => collector.be({ kind: 'hang' }),
      end: (collector) => collector.be({ kind: 'take' }),
    },
  ];
  it.for(troubles)(
    'loses no call while the collector $what, and repeats the same ids',
    async ({ timeoutMs, begin, end }, { collector, start }) => {
      const exporting = start(timeoutMs === undefined ? {} : { settings: { timeoutMs } });
      const before = callsOf(20);
      await exporting.serve(before);
      await arrived(collector, before);
      const known = exporting.logged.length;
      await begin(collector);
      const during = callsOf(40);
      await exporting.serve(during);
      await until(() => exporting.exporter.state().failures > 0);
      await end(collector);
      const found = await arrived(collector, [...before, ...during]);
      expect(found.size).toBe(60);
      const told = exporting.logged.slice(known).filter((line) => line.startsWith('warn'));
      expect(told).toHaveLength(1);
      // What was offered more than once is the same span each time.
      const offered = collector.deliveries.flatMap(({ spans }) => spans).filter(({ kind }) => kind === 2);
      const ids = new Map<string, Set<string>>();
      for (const span of offered) {
        const id = String(span.attributes['model_gateway.call.id']);
        ids.set(
          id,
          (ids.get(id) ?? new Set()).add(`${span.traceId} ${span.spanId} ${span.start} ${span.end}`),
        );
      }
      expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
    },
  );

  it('comes again when the collector says', async ({ collector, start }) => {
    const exporting = start();
    collector.be({ kind: 'answer', status: 429, headers: { 'retry-after': '2' } });
    const calls = callsOf(5);
    await exporting.serve(calls);
    await until(() => exporting.exporter.state().failures > 0);
    collector.be({ kind: 'take' });
    await arrived(collector, calls);
    // Without Retry-After the first repeat comes within a second.
    const [first, second, ...more] = collector.deliveries;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(1_900);
    expect(more).toEqual([]);
  });

  it('drops what is rejected permanently, counts and logs it, and shows no value of a header', async ({
    collector,
    start,
  }) => {
    const secret = 'Bearer very-secret-token';
    const exporting = start({ settings: { headers: { authorization: secret } } });
    collector.be({ kind: 'answer', status: 401, echo: true });
    await exporting.serve(callsOf(5));
    await until(() => exporting.exporter.state().dropped === 5);
    collector.be({ kind: 'take' });
    const next = callsOf(5);
    await exporting.serve(next);
    expect((await arrived(collector, next)).size).toBe(5);
    expect(exporting.logged.join()).toMatch(/error .*refused 5 calls.*status 401: bad headers/);
    expect(exporting.logged.join()).not.toMatch(/very-secret|token/);
  });

  it('logs spans that the collector rejects, and does not repeat them', async ({ collector, start }) => {
    const exporting = start();
    collector.be({ kind: 'reject', spans: 3 });
    await exporting.serve(callsOf(5));
    await until(() => exporting.exporter.state().rejectedSpans === 3);
    expect(exporting.exporter.state().sent).toBe(5);
    expect(exporting.logged.join()).toContain('rejected 3 of 10 spans: no room for them');
    expect(collector.deliveries).toHaveLength(1);
  });

  it('sends smaller requests to a collector that finds them too large', async ({ collector, start }) => {
    collector.takeAtMost(40);
    const exporting = start();
    const calls = callsOf(150);
    await exporting.serve(calls);
    expect((await arrived(collector, calls)).size).toBe(150);
    expect(exporting.exporter.state().dropped).toBe(0);
  });

  it('goes on where the last process stood, also with calls that it could not send', async ({
    collector,
    start,
  }) => {
    const first = start({ rotateBytes: 20_000 });
    const before = callsOf(50);
    await first.serve(before);
    await arrived(collector, before);
    collector.be({ kind: 'answer', status: 503 });
    const during = callsOf(50);
    await first.serve(during);
    await until(() => first.exporter.state().failures > 0);
    await first.stop();
    collector.be({ kind: 'take' });
    const known = collector.deliveries.length;
    const second = start({ dir: first.dir, rotateBytes: 20_000 });
    const after = callsOf(10);
    await second.serve(after);
    const found = await arrived(collector, [...before, ...during, ...after]);
    expect(found.get(during[0]?.id ?? '')?.resource['service.instance.id']).toBe(first.ownerId);
    // Nothing that was taken before comes again after an orderly stop.
    const again = collector.deliveries
      .slice(known)
      .flatMap(({ spans }) => spans.map(({ traceId }) => traceId));
    const sent = new Set(before.map(({ id }) => id.replaceAll('-', '')));
    expect(again.filter((id) => sent.has(id))).toEqual([]);
  });

  it('keeps no more than its limit for a collector that stays away: the oldest calls are dropped, counted and logged', async ({
    collector,
    start,
  }) => {
    await collector.leave();
    const [limit, rotateBytes] = [200_000, 20_000];
    const exporting = start({ rotateBytes, settings: { backlogBytes: limit } });
    const calls = callsOf(1_000);
    for (let at = 0; at < calls.length; at += 50) {
      await exporting.serve(calls.slice(at, at + 50));
      await until(() => exporting.shelved() <= limit + 2 * rotateBytes);
    }
    await until(() => exporting.exporter.state().skipped > 0 && exporting.shelved() <= limit + rotateBytes);
    expect(exporting.logged.join()).toMatch(
      /TELEMETRY_BACKLOG_BYTES is reached: the oldest \d+ calls are skipped/,
    );
    await collector.come();
    const last = calls.slice(-20);
    const found = await arrived(collector, last);
    await until(() => exporting.exporter.state().sent + exporting.exporter.state().skipped === 1_000);
    expect(found.has(calls[0]?.id ?? '')).toBe(false);
  });

  it('gives up the oldest of what waits when the journal has no room on the disk', async ({
    collector,
    start,
  }) => {
    await collector.leave();
    const exporting = start({ rotateBytes: 20_000 });
    await exporting.serve(callsOf(200));
    await until(() => exporting.exporter.state().backlogBytes > 100_000);
    exporting.exporter.makeRoom();
    await until(() => exporting.shelved() < 60_000 && exporting.exporter.state().skipped > 100);
  });

  it('sends calls whose end no file could take', async ({ collector, start }) => {
    const exporting = start();
    const call = callOf(customer);
    exporting.journal.remember({ kind: 'close', callId: call.id, funding: 'none', call });
    expect((await arrived(collector, [call])).size).toBe(1);
  });

  it('sends a backlog of 30,000 calls within the memory of its thread', async ({ collector, start }) => {
    await collector.leave();
    const exporting = start({ rotateBytes: 4 * 1024 * 1024 });
    for (let thousands = 0; thousands < 30; thousands++) {
      const ends = callsOf(1_000).map((call) => exporting.journal.append(closeOf(call)));
      await Promise.all(ends);
      exporting.journal.drop(exporting.journal.backlog);
    }
    await collector.come();
    await until(() => exporting.exporter.state().sent >= 30_000, 300_000);
    await until(() => collector.taken().length >= 60_000);
    expect(collector.calls().size).toBe(30_000);
    expect(exporting.logged.filter((line) => line.includes('its thread ended'))).toEqual([]);
  }, 400_000);
});
