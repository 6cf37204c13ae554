import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ChargeFlags } from '#lib/metrics/charge-flags';
import { OfferFaults } from '#lib/metrics/offer-faults';
import { createRegistry } from '#lib/metrics/registry';
import { Tally } from '#lib/metrics/tally';

const read = (path: string) => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');
const ours = /\b(?:gateway|process|nodejs)_[a-z0-9_]+\b/g;

/** What a gateway exports; `_bucket`, `_sum` and `_count` are a histogram's or a summary's. */
async function exported(): Promise<ReadonlySet<string>> {
  const registry = createRegistry({
    tally: new Tally(),
    chargeFlags: new ChargeFlags(() => undefined),
    offerFaults: new OfferFaults(() => undefined),
    pool: { totalCount: 0, idleCount: 0, waitingCount: 0 },
    offers: () => [],
    telemetry: () => null,
    state: () => ({
      ready: true,
      callsInFlight: 0,
      journalBacklog: 0,
      setAside: { damaged: 0, rejected: 0 },
      leases: [],
      jobs: { opened: 0, charged: 0, released: 0, lost: 0 },
    }),
  });
  const names = (await registry.getMetricsAsJSON()).flatMap(({ name, type }) =>
    String(type) === 'histogram' || String(type) === 'summary'
      ? ['_bucket', '_sum', '_count'].map((end) => name + end)
      : [name],
  );
  return new Set(names);
}

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
});
