import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsInSlice, slicesOf } from '#lib/control/billing/slices';
import { verifyLedger } from '#lib/control/billing/verify';
import { makePartitions } from '#lib/control/retention/partitions';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { settle } from '#lib/gateway/settlement/settle';
import type { Query } from '#lib/platform/data/transaction/read-snapshot';
import { idFloor } from '#lib/platform/ids';
import { inScratch } from '#tests/gateway/settlement/scratch';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { type Customer, callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
  await makePartitions(pool, Date.now());
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface Scene {
  readonly customer: Customer;
  readonly call: CallRecord;
}

const posted =
  'each usage line is the cost of the calls and jobs that were settled in its quarter of an hour';

/** What goes wrong, and the check that must see it. */
type Fault = readonly [what: string, check: string, sql: (scene: Scene) => string];
const faults: readonly Fault[] = [
  [
    'a balance that moved without a line',
    'the balance of each workspace is the sum of its ledger',
    ({ customer }) =>
      `UPDATE workspace SET balance_nano = balance_nano + 1 WHERE id = '${customer.workspaceId}'`,
  ],
  [
    'a charge that differs from its line',
    posted,
    ({ call }) => `UPDATE call SET cost_nano = cost_nano + 1 WHERE id = '${call.id}'`,
  ],
  ['a line whose call is gone', posted, ({ call }) => `DELETE FROM call WHERE id = '${call.id}'`],
  [
    'a call that was settled in another quarter than its line says',
    posted,
    ({ call }) => `UPDATE call SET settled_at = settled_at - interval '1 day' WHERE id = '${call.id}'`,
  ],
  [
    'a call that is gone without a trace',
    'the usage lines of each workspace are the cost of all its calls and jobs, deleted ones included',
    ({ call }) => `DELETE FROM call WHERE id = '${call.id}'`,
  ],
  [
    'a day whose sum has moved',
    'the sum of each day of the ledger is the sum of its lines',
    ({ customer }) =>
      `UPDATE ledger_day SET amount_nano = amount_nano + 1 WHERE workspace_id = '${customer.workspaceId}'`,
  ],
  [
    'a spend that the ledger does not show',
    'the spend of each key is the cost of its calls, jobs and adjustments, deleted ones included',
    ({ customer }) => `UPDATE api_key SET spent_nano = spent_nano - 1 WHERE id = '${customer.keyId}'`,
  ],
  [
    'a used-up quota without its flag',
    'a key whose spend reached its quota has the flag, unless it was changed by hand',
    ({ customer }) => `UPDATE api_key SET quota_nano = spent_nano WHERE id = '${customer.keyId}'`,
  ],
  [
    'a minute that counts too little',
    'the minutes of spend agree with the calls, jobs and adjustments',
    ({ customer }) =>
      `UPDATE spend_minute SET spent_nano = spent_nano - 1 WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a minute that is missing',
    'the minutes of spend agree with the calls, jobs and adjustments',
    ({ customer }) => `DELETE FROM spend_minute WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a quarter that counts a call twice',
    'the quarters of usage agree with the calls, jobs and adjustments',
    ({ customer }) => `UPDATE usage_quarter SET calls = calls + 1 WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a quarter that is missing',
    'the quarters of usage agree with the calls, jobs and adjustments',
    ({ customer }) => `DELETE FROM usage_quarter WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a quarter that counts a token too much',
    'the quarters of usage agree with the calls, jobs and adjustments',
    ({ customer }) =>
      `UPDATE usage_quarter SET reasoning_tokens = reasoning_tokens + 1 WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a histogram that counts another latency',
    'the quarters of usage agree with the calls, jobs and adjustments',
    ({ customer }) => `UPDATE usage_quarter SET latency = first_byte WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a quarter that counts too much, beside a workspace that keeps fewer days',
    'the quarters of usage agree with the calls, jobs and adjustments',
    ({ customer }) =>
      `WITH short AS (INSERT INTO workspace (id, slug, name, calls_kept_from)
         VALUES (gen_random_uuid(), 'short', 'Short', 'ffffffff-ffff-7fff-8fff-ffffffffffff'))
       UPDATE usage_quarter SET calls = calls + 1 WHERE key_id = '${customer.keyId}'`,
  ],
  [
    'a day of usage that its quarters do not add up to',
    'the days of usage are the sums of the quarters that they count, each once',
    ({ customer }) =>
      `WITH day AS (INSERT INTO usage_span (workspace_id, day, until, zone, state)
         VALUES ('${customer.workspaceId}', '2020-01-01', '2020-01-02', 'UTC', 'summed'))
       INSERT INTO usage_day (workspace_id, day, until, key_id, model, provider, calls)
       VALUES ('${customer.workspaceId}', '2020-01-01', '2020-01-02', '${customer.keyId}', 'a/b', 'one', 1)`,
  ],
  ...(
    [
      [
        'a quarter of all keys',
        'usage_quarter_total (workspace_id, quarter, model, provider, calls)',
        "'a/b', 'one'",
      ],
      ['a day of all keys', 'usage_day_total (workspace_id, day, model, provider, calls)', "'a/b', 'one'"],
      ['a day of a key', 'usage_day_key (workspace_id, day, key_id, calls)', 'gen_random_uuid()'],
    ] as const
  ).map(
    ([what, columns, place]): Fault => [
      `${what} that nothing adds up to`,
      'the sums of usage of all keys together, and of each key by day, agree with those of each key and model',
      ({ customer }) =>
        `INSERT INTO ${columns} VALUES ('${customer.workspaceId}', '2020-01-01', ${place}, 1)`,
    ],
  ),
  [
    'days of usage that overlap',
    'the days of usage are the sums of the quarters that they count, each once',
    ({ customer }) =>
      `INSERT INTO usage_span (workspace_id, day, until, zone, state) VALUES
         ('${customer.workspaceId}', '2020-01-01', '2020-01-02', 'UTC', 'summed'),
         ('${customer.workspaceId}', '2020-01-01 18:15Z', '2020-01-02 18:15Z', 'Asia/Kathmandu', 'summed')`,
  ],
  [
    'a charge that its lines do not explain',
    'each charge is the sum of its lines rounded up once, or its hold if that is less',
    ({ call }) => `UPDATE call SET lines = '[["input",19,"1000000"]]' WHERE id = '${call.id}'`,
  ],
  [
    'an excess over the hold that is not recorded',
    'the amount by which a charge exceeds its hold is recorded, and refused calls are not charged',
    ({ call }) => `UPDATE call SET hold_nano = cost_nano - 1 WHERE id = '${call.id}'`,
  ],
  [
    'a strict workspace charged above a hold',
    'a charge of a strict workspace never exceeds its hold',
    ({ call, customer }) =>
      `WITH c AS (UPDATE call SET hold_nano = cost_nano - 1, over_hold_nano = 1 WHERE id = '${call.id}')
       UPDATE workspace SET strict = true WHERE id = '${customer.workspaceId}'`,
  ],
  [
    'a hold of a process that is gone',
    'holds and leases belong to living processes',
    ({ customer }) =>
      `INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at)
       VALUES (gen_random_uuid(), gen_random_uuid(), '${customer.workspaceId}', '${customer.keyId}', 1, now())`,
  ],
  [
    'a lease of a process that is silent',
    'holds and leases belong to living processes',
    ({ customer }) =>
      `WITH o AS (INSERT INTO owner (id, machine, pid, expires_at)
         VALUES (gen_random_uuid(), 'm', 1, now() - interval '2 minutes') RETURNING id)
       INSERT INTO lease (owner_id, kind, subject_id, granted_nano)
       SELECT id, 'workspace', '${customer.workspaceId}', 1 FROM o`,
  ],
  [
    'a hold that outlived its call',
    'a hold row ends with its call',
    ({ call, customer }) =>
      `WITH o AS (INSERT INTO owner (id, machine, pid, expires_at)
         VALUES (gen_random_uuid(), 'm', 1, now() + interval '1 hour') RETURNING id)
       INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at)
       SELECT '${call.id}', id, '${customer.workspaceId}', '${customer.keyId}', 1, now() FROM o`,
  ],
  [
    'a lease that holds less than nothing',
    'what is held and leased is never below zero',
    ({ customer }) =>
      `WITH o AS (INSERT INTO owner (id, machine, pid, expires_at)
         VALUES (gen_random_uuid(), 'm', 1, now() + interval '1 hour') RETURNING id)
       INSERT INTO lease (owner_id, kind, subject_id, granted_nano, held_nano)
       SELECT id, 'workspace', '${customer.workspaceId}', 1, -1 FROM o`,
  ],
];

async function settled(): Promise<Scene> {
  const customer = await createCustomer(pool);
  const call = callOf(customer);
  await settle(pool, newId(), [closeOf(call)]);
  return { customer, call };
}

describe('ledger verify (contract: money/verify)', () => {
  it('finds nothing when calls were settled, and adds up what exceeded the holds', async () => {
    const { customer } = await settled();
    await settle(pool, newId(), [closeOf(callOf(customer, { costNano: 50n, holdNano: 30n }))]);
    const found = await verifyLedger({ pool });
    expect(found.checks.filter((check) => check.rows.length > 0)).toEqual([]);
    expect(found.ok).toBe(true);
    expect(found.overHoldNano).toBe(20n);
  });

  it('looks at every call once, also at the cuts of the log, and at those whose time is far from that of their id', async () => {
    const customer = await createCustomer(pool);
    const nowMs = Date.now();
    const calls = Array.from({ length: 40 }, (_, n) => {
      const atMs = nowMs - n * 1_000_000;
      return callOf(customer, { id: `${idFloor(atMs).slice(0, -12)}${newId().slice(-12)}`, atMs });
    });
    calls.push(
      callOf(customer, { atMs: nowMs - 20_000_000 }),
      callOf(customer, { atMs: nowMs - 30 * 86_400_000 }),
    );
    await settle(
      pool,
      newId(),
      calls.map((call) => closeOf(call)),
    );
    const query: Query = async (text, values = []) => (await pool.query(text, [...values])).rows;
    const slices = await slicesOf(query, 5);
    expect(slices.length).toBeGreaterThan(6);
    const seen: string[] = [];
    for (const slice of slices) {
      const rows = await query<{ id: string }>(callsInSlice('id::text AS id, key_id'), slice);
      seen.push(...rows.map(({ id }) => id));
    }
    const all = await query<{ id: string }>('SELECT id::text AS id FROM call ORDER BY id');
    expect(seen.sort()).toEqual(all.map(({ id }) => id));
  });

  it.each(faults)('finds %s', async (_, check, sql) => {
    const scene = await settled();
    await inScratch(pool, async (scratch) => {
      await scratch.query(sql(scene));
      const found = await verifyLedger({ pool: scratch });
      expect(found.ok).toBe(false);
      const broken = found.checks.find((one) => one.name === check);
      expect(broken?.rows).not.toEqual([]);
    });
  });
});
