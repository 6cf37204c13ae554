import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paidByIntent } from '#lib/control/billing/payments/fact';
import { takeFacts } from '#lib/control/billing/payments/handle';
import { verifyLedger } from '#lib/control/billing/verify';
import { addCredit } from '#lib/control/operations/credit/operations';
import { grantCredit } from '#lib/control/operations/credit/promo';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { ask } from '#lib/control/operations/run';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { makePartitions } from '#lib/control/retention/partitions';
import { insertLine, postLine } from '#lib/gateway/ledger/post-line';
import { settle } from '#lib/gateway/settlement/settle';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { transact } from '#lib/platform/data/transaction/transaction';
import {
  newWorkspace,
  openShop,
  operator,
  order,
  type Shop,
  spend,
  takeAll,
} from '#tests/gateway/billing/account';
import { createDatabase, createEmptyDatabase } from '#tests/support/database';
import { callOf, closeOf, createCustomer, newId } from '#tests/support/settlement';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { copyMigrations } from '#tests/support/shared/migrations';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

type Place = Awaited<ReturnType<typeof newWorkspace>>;

const simulatedFaults = async (db: Parameters<typeof verifyLedger>[0]) =>
  (await verifyLedger(db)).checks.filter(({ name, rows }) => name.includes('simulated') && rows.length > 0);

/** Balance, and what of it is simulated, dollars. */
async function fundsOf({ slug }: Place): Promise<[balance: string, simulated: string]> {
  const shown = await ask(shop.host, showWorkspace, { actor: operator, workspace: slug, input: {} });
  return [shown.balance, shown.simulated];
}

/** A workspace that a test payment of $20 was made for, and its payment. */
async function paid(credit?: string): Promise<Place & { intent: string }> {
  const place = await newWorkspace(shop);
  if (credit) await give(place, credit);
  const { session, topUp } = await order(shop, place.slug, '20');
  shop.server.account.pay(session);
  await takeAll(shop);
  const { paymentIntent } = await shop.db.prisma.topUp.findUniqueOrThrow({ where: { id: topUp.id } });
  return { ...place, intent: paymentIntent ?? '' };
}

const give = ({ slug }: Place, amount: string) =>
  ask(shop.host, addCredit, { actor: operator, workspace: slug, input: { amount, reason: 'test' } });
const adjust = (workspaceId: string, keyId: string, amountNano: bigint) =>
  transact(shop.db.pool, { lockMs: 5_000, statementMs: 5_000 }, (client) =>
    insertLine(client, {
      workspaceId,
      keyId,
      kind: 'adjustment',
      ref: newId(),
      amountNano,
      reason: null,
      simulated: true,
    }),
  );

describe('simulated money (contract: money/simulated-money)', () => {
  it('is what a test payment credits, and nothing else', async () => {
    const place = await paid('5');
    const input = { amount: '3', reason: 'test', expiresAt: '2099-01-01T00:00:00Z' };
    await ask(shop.host, grantCredit, { actor: operator, workspace: place.slug, input });
    expect(await fundsOf(place)).toEqual(['28', '20']);
    const { data } = await ask(shop.host, listLedger, { actor: operator, workspace: place.slug, input: {} });
    expect(data.map(({ kind, amount, simulated }) => [kind, amount, simulated])).toEqual([
      ['adjustment', '5', '0'],
      ['top_up', '20', '20'],
      ['promo', '3', '0'],
    ]);
  });

  it('of a payment with a live key is none', async () => {
    const place = await newWorkspace(shop);
    const { topUp, session } = await order(shop, place.slug, '20');
    await shop.db.pool.query('UPDATE top_up SET livemode = true WHERE id = $1', [topUp.id]);
    shop.server.account.pay(session);
    shop.server.account.events.splice(0);
    const intent = await shop.payments.stripe.paymentIntents.retrieve(session.payment_intent ?? '');
    const fact = paidByIntent(intent);
    if (fact === null) throw new Error('it was paid');
    await takeFacts(shop.db.pool, [fact], true);
    expect(await fundsOf(place)).toEqual(['20', '0']);
  });

  it('is spent before other money by what the simulated provider answers, and by nothing else', async () => {
    const place = await paid('5');
    await spend(shop, place.id, 8, true);
    expect(await fundsOf(place)).toEqual(['17', '12']);
    await spend(shop, place.id, 6);
    expect(await fundsOf(place)).toEqual(['11', '12']);
    await spend(shop, place.id, 14, true);
    expect(await fundsOf(place)).toEqual(['-3', '0']);
    const { data } = await ask(shop.host, listLedger, { actor: operator, workspace: place.slug, input: {} });
    const usage = data.filter(({ kind }) => kind === 'usage');
    expect(usage.reduce((sum, { simulated }) => sum + Number(simulated), 0)).toBe(-20);
  });

  it('goes first when a payment is refunded, and other funds pay what it cannot', async () => {
    const place = await paid('5');
    await spend(shop, place.id, 15, true);
    shop.server.account.refund(place.intent, 1_200);
    await takeAll(shop);
    expect(await fundsOf(place)).toEqual(['-2', '0']);
    // The refund fails: other funds have back what they paid, and the rest is simulated as before.
    for (const refund of shop.server.account.refunds.values()) shop.server.account.failRefund(refund);
    await takeAll(shop);
    expect(await fundsOf(place)).toEqual(['10', '5']);
  });

  it('is returned after a won dispute as far as it was taken', async () => {
    const place = await paid();
    await spend(shop, place.id, 5, true);
    shop.server.account.dispute(place.intent, 'won');
    await takeAll(shop);
    expect(await fundsOf(place)).toEqual(['15', '15']);
  });

  it('pays later charges of its calls, and has back what it paid too much', async () => {
    const place = await paid('5');
    const key = newId();
    await adjust(place.id, key, -4_000_000_000n);
    expect(await fundsOf(place)).toEqual(['21', '16']);
    await adjust(place.id, key, 1_000_000_000n);
    expect(await fundsOf(place)).toEqual(['22', '17']);
    // Of a workspace that never had any, it is no simulated money that comes back.
    const other = await newWorkspace(shop);
    await adjust(other.id, key, 1_000_000_000n);
    expect(await fundsOf(other)).toEqual(['1', '0']);
  });

  it('leaves promo credit for other calls', async () => {
    const place = await paid();
    const input = { amount: '3', reason: 'test', expiresAt: '2099-01-01T00:00:00Z' };
    await ask(shop.host, grantCredit, { actor: operator, workspace: place.slug, input });
    await spend(shop, place.id, 10, true);
    await spend(shop, place.id, 1);
    const { rows } = await shop.db.pool.query<{ left: string }>(
      `SELECT promo_left($1, '2100-01-01')::text AS left`,
      [place.id],
    );
    expect(rows).toEqual([{ left: '2000000000' }]);
  });

  it('is reported by ledger verify if it is not the sum of its parts, or paid another provider', async () => {
    const own = await createDatabase();
    const db = { pool: new Pool({ connectionString: own.url }) };
    await makePartitions(db.pool, Date.now());
    const customer = await createCustomer(db.pool, { balanceNano: 100n });
    const line = {
      workspaceId: customer.workspaceId,
      kind: 'top_up',
      amountNano: 50n,
      reason: null,
    } as const;
    await postLine(db.pool, { ...line, ref: 'test payment', simulated: true });
    await settle(db.pool, newId(), [closeOf(callOf(customer, { costNano: 30n, provider: 'sandbox' }))]);
    expect(await simulatedFaults(db)).toEqual([]);
    await db.pool.query(`UPDATE call SET provider = 'openai'`);
    expect((await simulatedFaults(db)).map(({ name }) => name)).toEqual([
      'simulated money pays at most for what the simulated provider answered in each quarter of an hour',
    ]);
    await db.pool.query(`UPDATE call SET provider = 'sandbox'`);
    await db.pool.query('UPDATE workspace SET simulated_nano = simulated_nano + 1');
    expect((await simulatedFaults(db)).map(({ name }) => name)).toEqual([
      'the simulated money of each workspace is the sum of its parts of the ledger, and not below zero',
    ]);
    await db.pool.end();
    await own.drop();
  });
});

const places: readonly (readonly [string, () => Promise<{ url: string; end: () => Promise<unknown> }>])[] = [
  [
    'a PostgreSQL server',
    async () => {
      const database = await createDatabase();
      return { url: database.url, end: database.drop };
    },
  ],
  [
    'the embedded database',
    async () => {
      const embedded = await openEmbedded(await embeddedDirectory('migrated'), 'server');
      return { url: embedded.url, end: () => embedded.close() };
    },
  ],
];

describe.each(places)('simulated money on %s', (_, open) => {
  it('is spent once, and never below zero, by processes that settle and repeat at the same time', async () => {
    const { url, end } = await open();
    const pools = [1, 2, 3].map(() => new Pool({ connectionString: url, max: 2 }));
    const [pool] = pools;
    if (!pool) throw new Error('three pools were made');
    await makePartitions(pool, Date.now());
    const customer = await createCustomer(pool, { balanceNano: 1_000n });
    const line = {
      workspaceId: customer.workspaceId,
      kind: 'top_up',
      amountNano: 500n,
      reason: null,
    } as const;
    await postLine(pool, { ...line, ref: `test ${customer.workspaceId}`, simulated: true });
    const batches = pools.map((each) => ({
      pool: each,
      owner: newId(),
      calls: Array.from({ length: 20 }, (_, at) =>
        closeOf(callOf(customer, { costNano: 20n, provider: at % 2 ? 'sandbox' : 'openai' })),
      ),
    }));
    // Each batch twice, as after a commit whose answer was lost: the second time settles nothing.
    await Promise.all(
      batches.flatMap(({ pool: each, owner, calls }) => [
        settle(each, owner, calls),
        settle(each, owner, calls),
      ]),
    );
    const { rows } = await pool.query<{ balance: string; simulated: string; lines: string }>(
      `SELECT balance_nano::text AS balance, simulated_nano::text AS simulated,
         (SELECT sum(simulated_nano)::text FROM ledger_line WHERE workspace_id = w.id AND kind = 'usage') AS lines
       FROM workspace w WHERE id = $1`,
      [customer.workspaceId],
    );
    // 600 of each kind of call: the simulated money of 500 is gone, real calls took none of it.
    expect(rows).toEqual([{ balance: '300', simulated: '0', lines: '-500' }]);
    expect(await simulatedFaults({ pool })).toEqual([]);
    for (const each of pools) await each.end();
    await end();
  });
});

describe('a database of the version before (contract: money/simulated-money)', () => {
  it('counts test payments as simulated money as far as the balance still has them', async () => {
    const database = await createEmptyDatabase();
    const pool = new Pool({ connectionString: database.url });
    await migrate(database.url, copyMigrations('20261126100000'));
    const workspace = async (
      balance: bigint,
      payments: readonly (readonly [live: boolean, cents: number])[],
    ) => {
      const id = newId();
      await pool.query('INSERT INTO workspace (id, slug, name, balance_nano) VALUES ($1, $2, $2, $3)', [
        id,
        `w-${id}`,
        `${balance}`,
      ]);
      for (const [live, cents] of payments) {
        const intent = `pi_${newId()}`;
        await pool.query(
          `INSERT INTO top_up (id, workspace_id, cents, fee_cents, livemode, status, payment_intent)
           VALUES ($1, $2, $3, 0, $4, 'paid', $5)`,
          [newId(), id, cents, live, intent],
        );
        await pool.query(
          `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano) VALUES ($1, $2, 'top_up', $3, $4)`,
          [newId(), id, intent, `${BigInt(cents) * 10_000_000n}`],
        );
      }
      return id;
    };
    const usd = 1_000_000_000n;
    const untouched = await workspace(20n * usd, [[false, 2_000]]);
    const spent = await workspace(7n * usd, [[false, 2_000]]);
    const beside = await workspace(30n * usd, [
      [false, 2_000],
      [true, 1_000],
    ]);
    const real = await workspace(10n * usd, [[true, 1_000]]);
    const overdrawn = await workspace(-1n * usd, [[false, 2_000]]);
    await migrate(database.url);
    const { rows } = await pool.query<{ id: string; simulated: string; marked: string }>(
      `SELECT w.id, w.simulated_nano::text AS simulated, coalesce(sum(l.simulated_nano), 0)::text AS marked
       FROM workspace w LEFT JOIN ledger_line l ON l.workspace_id = w.id GROUP BY w.id`,
    );
    expect(new Map(rows.map(({ id, simulated, marked }) => [id, [simulated, marked]]))).toEqual(
      new Map(
        [
          [untouched, 20n * usd],
          [spent, 7n * usd],
          [beside, 20n * usd],
          [real, 0n],
          [overdrawn, 0n],
        ].map(([id, nano]) => [id, [`${nano}`, `${nano}`]]),
      ),
    );
    expect(await simulatedFaults({ pool })).toEqual([]);
    await pool.end();
    await database.drop();
  });
});
