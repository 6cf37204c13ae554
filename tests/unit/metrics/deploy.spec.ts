import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { Tally } from '#lib/gateway/metrics/tally';
import { createRegistry } from '#lib/programs/metrics/registry';

const read = (path: string) => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');
const ours = /\b(?:gateway|process|nodejs)_[a-z0-9_]+\b/g;

function registry(): Registry {
  return createRegistry({
    tally: new Tally(),
    chargeFlags: new ChargeFlags(() => undefined),
    offerFaults: new OfferFaults(() => undefined),
    outbox: async () => ({ mail: 0, webhook: 0 }),
    pool: { totalCount: 0, idleCount: 0, waitingCount: 0 },
    offers: () => [],
    credentials: () => [],
    telemetry: () => ({ sent: 0, dropped: 0, skipped: 0, rejectedSpans: 0, failures: 0, backlogBytes: 0 }),
    version: '1.2.3',
    dataDir: '/',
    state: () => ({
      ready: true,
      callsInFlight: 0,
      sockets: { responses: 0, realtime: 0 },
      databaseUp: true,
      limitStore: true,
      journalBacklog: 0,
      journalOldestMs: 0,
      setAside: { damaged: 0, rejected: 0 },
      leases: [],
      content: { kept: 0, lost: 0 },
      contentPlace: true,
      jobs: { opened: 0, charged: 0, released: 0, lost: 0 },
    }),
  });
}

/** What a gateway exports; `_bucket`, `_sum` and `_count` are a histogram's or a summary's. */
async function exported(): Promise<ReadonlySet<string>> {
  const names = (await registry().getMetricsAsJSON()).flatMap(({ name, type }) =>
    String(type) === 'histogram' || String(type) === 'summary'
      ? ['_bucket', '_sum', '_count'].map((end) => name + end)
      : [name],
  );
  return new Set(names);
}

const test = z.object({
  promql_expr_test: z.array(z.object({ expr: z.string(), exp_samples: z.array(z.unknown()) })),
});
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe('what operators are given', () => {
  it.each(['grafana/gateway.json', 'prometheus/alerts.yaml'])(
    '%s names metrics that are exported',
    async (file) => {
      const known = await exported();
      const named = new Set(read(file).match(ours) ?? []);
      expect(named.size).toBeGreaterThan(8);
      expect([...named].filter((name) => !known.has(name))).toEqual([]);
    },
  );

  it('the dashboard has panels that do not overlap, each with a query', () => {
    const { panels } = JSON.parse(read('grafana/gateway.json'));
    const cells = new Set<string>();
    for (const { type, targets, gridPos } of panels) {
      if (type !== 'row') expect(targets.length).toBeGreaterThan(0);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(cells.has(`${x},${y}`)).toBe(false);
          cells.add(`${x},${y}`);
        }
    }
  });

  it('each alert has a case in which it fires and one in which it does not', () => {
    const alerts = read('prometheus/alerts.yaml').match(/(?<=- alert: )\w+/g) ?? [];
    const { tests } = z.object({ tests: z.array(test) }).parse(parse(read('prometheus/alerts.test.yaml')));
    const cases = tests.flatMap((one) => one.promql_expr_test);
    for (const alert of alerts) {
      const own = cases.filter(({ expr }) => expr.includes(`"${alert}"`));
      const fires = own.map(({ exp_samples }) => exp_samples.length > 0);
      expect(`${alert} ${fires.includes(true)} ${fires.includes(false)}`).toBe(`${alert} true true`);
    }
  });

  it.skipIf(!hasPromtool)('the alerts fire by those cases (needs promtool)', () => {
    const cwd = fileURLToPath(new URL('../../../deploy/prometheus', import.meta.url));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });

  it('the page on metrics names each one of the gateway', async () => {
    const found = (await registry().getMetricsAsJSON()).filter(({ name }) => name.startsWith('gateway_'));
    const rows = found.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`).sort();
    const head = [
      '# Metrics',
      '',
      '`GET /api/metrics` answers in the format of Prometheus, with `METRICS_TOKEN` as a bearer token. Beside these it has',
      "Node's own (`process_…`, `nodejs_…`). `deploy/prometheus/alerts.yaml` has alert rules, `deploy/grafana/gateway.json`",
      'a dashboard. No label ever has a key, a workspace or anything that a client sends.',
      '',
      '| Metric | Type | Meaning |',
      '|---|---|---|',
    ];
    await expect(`${[...head, ...rows].join('\n')}\n`).toMatchFileSnapshot('../../../docs/metrics.md');
  });
});
