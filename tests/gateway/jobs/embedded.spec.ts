import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import type { JobSight, NewJob } from '#lib/core/facts/job';
import { usageOf } from '#lib/core/metering/usage';
import { JobStore } from '#lib/gateway/jobs/job-store';
import { type Db, openDb } from '#lib/platform/data/db';
import { type Embedded, openEmbedded } from '#lib/platform/data/embedded';
import { createCustomer, newId } from '#tests/support/settlement';
import { embeddedDirectory } from '#tests/support/shared/embedded';

let embedded: Embedded;
let db: Db;
beforeAll(async () => {
  embedded = await openEmbedded(await embeddedDirectory('migrated'), 'server');
  db = openDb(embedded.url);
});
afterAll(async () => {
  await db.close();
  await embedded.close();
});

const done: JobSight = {
  state: 'completed',
  report: { usage: usageOf({ videoSeconds: 4 }), serviceTier: null, nested: [], flags: [] },
  view: { id: 'video_1' },
};

it('jobs on the embedded database are taken by one process each and charged once', async () => {
  const [offerId, priceVersionId] = [newId(), newId()];
  const price = { base: { videoSecond: '100000000000000' }, tiers: [], serviceTiers: {} };
  await db.pool.query(`INSERT INTO provider (id, name, families) VALUES ('p', 'P', '{}')`);
  await db.pool.query(
    `INSERT INTO model (id, name, context_tokens, max_output_tokens) VALUES ('m', 'M', 1000, 1000)`,
  );
  await db.pool.query(
    `INSERT INTO offer (id, model_id, provider_id, upstream_model) VALUES ($1, 'm', 'p', 'm')`,
    [offerId],
  );
  await db.pool.query('INSERT INTO price_version (id, offer_id, price) VALUES ($1, $2, $3)', [
    priceVersionId,
    offerId,
    JSON.stringify(price),
  ]);
  const customer = await createCustomer(db.pool);
  const stores = [new JobStore(db.pool), new JobStore(db.pool)] as const;
  const made = Array.from({ length: 12 }, (_, n): NewJob => {
    const upstream = {
      family: 'videos',
      kind: 'video',
      id: `video_${n}`,
      providerId: 'p',
      credential: 'default',
    } as const;
    const model = { modelId: 'm', upstreamModel: 'm', offerId, priceVersionId };
    const sight: JobSight = { ...done, state: 'queued', report: null };
    const rest = { holdNano: 5n, facts: { seconds: 4 }, sight, createdAtMs: Date.now() };
    return { callId: newId(), ...customer, ...upstream, ...model, ...rest };
  });
  const nowMs = Date.now();
  await Promise.all(made.map((job) => stores[0].open(job, nowMs)));
  const taken = (
    await Promise.all(
      [...stores, ...stores].map((store) =>
        store.takeDue({ nowMs, leasedUntilMs: nowMs + 90_000, most: 8, busy: [] }),
      ),
    )
  ).flat();
  expect(taken.map((job) => job.callId).toSorted()).toEqual(made.map((job) => job.callId).toSorted());
  const settled = await Promise.all(
    made.flatMap(({ callId }) => stores.map((store) => store.settle(callId, { kind: 'seen', sight: done }))),
  );
  expect(settled.filter((one) => one === 'charged')).toHaveLength(12);
  const { rows } = await db.pool.query(
    `SELECT sum(calls)::int AS calls FROM ledger_line WHERE kind = 'usage'`,
  );
  expect(rows).toEqual([{ calls: 12 }]);
  const { checks } = await verifyLedger(db);
  expect(checks.filter((check) => check.rows.length > 0)).toEqual([]);
});
