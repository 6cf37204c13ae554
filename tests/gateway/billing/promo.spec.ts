import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expirePromos } from '#lib/control/billing/promo/expire';
import { promoChecks } from '#lib/control/billing/promo-checks';
import { verifyLedger } from '#lib/control/billing/verify';
import { grantCredit, listPromos } from '#lib/control/operations/credit/promo';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { isRefusal } from '#lib/core/errors';
import { formatUsd, parseUsd } from '#lib/core/money';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { type Db, openDb } from '#lib/platform/data/db';
import { makeKey, moneyOf, requestOf, snapshotOf, startNode } from '#tests/support/admission';
import { addCredit, operate } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const usd = 1_000_000_000n;
const far = '2199-01-01T00:00:00Z';
const checks = new Set([
  ...promoChecks.map(({ name }) => name),
  'the balance of each workspace is the sum of its ledger',
]);
let database: TestDatabase;
let db: Db;
let made = 0;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

interface Place {
  readonly id: string;
  readonly slug: string;
}

async function newWorkspace(): Promise<Place> {
  made += 1;
  const slug = `promo-${made}`;
  const { rows } = await db.pool.query<{ id: string }>(
    'INSERT INTO workspace (id, slug, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id',
    [slug],
  );
  return { id: rows[0]?.id ?? '', slug };
}

const grant = ({ slug }: Place, amount: string, expiresAt = far) =>
  operate(db, grantCredit, { workspace: slug, amount, reason: 'test', expiresAt });
const use = ({ id }: Place, spentNano: bigint) =>
  postUsage(db.pool, [{ id, spentNano, simulatedNano: 0n, calls: 1 }]);
const show = ({ slug }: Place) => operate(db, showWorkspace, { workspace: slug });
const promosOf = async ({ slug }: Place) => (await operate(db, listPromos, { workspace: slug })).data;
const linesOf = async ({ slug }: Place, kind: string) =>
  (await operate(db, listLedger, { workspace: slug, kind })).data.map(({ amount }) => amount);

/** Time goes on until a credit is that many seconds before its expiry; below 0, behind it. */
async function bring({ id }: Place, seconds: number, ref?: string): Promise<void> {
  await db.pool.query(
    `UPDATE promo SET expires_at = now() + make_interval(secs => $2) WHERE workspace_id = $1 AND ended_at IS NULL
     AND ($3::text IS NULL OR ref = $3)`,
    [id, seconds, ref ?? null],
  );
  await db.pool.query(
    `UPDATE workspace SET promo_ends_at = (SELECT min(expires_at) FROM promo WHERE workspace_id = $1 AND ended_at IS NULL)
     WHERE id = $1`,
    [id],
  );
}

async function brokenChecks(): Promise<unknown[]> {
  const found = (await verifyLedger(db)).checks.filter(({ name }) => checks.has(name));
  expect(found).toHaveLength(checks.size);
  return found.filter(({ rows }) => rows.length > 0);
}

describe('promo credit (contract: money/promo)', () => {
  it('is spent before other money, and what is left leaves the balance by one line', async () => {
    const place = await newWorkspace();
    await use(place, usd / 2n);
    await addCredit(db, { workspace: place.slug, amount: '5.5', reason: 'own money' });
    await grant(place, '10');
    await use(place, 3n * usd);
    expect(await promosOf(place)).toMatchObject([{ amount: '10', left: '7', endedAt: null }]);
    await bring(place, -5);
    expect(await show(place)).toMatchObject({ balance: '12', available: '5' });
    await Promise.all(Array.from({ length: 10 }, () => expirePromos(db.pool)));
    expect(await linesOf(place, 'expiry')).toEqual(['-7']);
    expect(await show(place)).toMatchObject({ balance: '5', available: '5' });
    expect(await promosOf(place)).toMatchObject([{ left: '0', expired: '7' }]);
    expect(await brokenChecks()).toEqual([]);
  });

  it('leaves no line when usage has spent all of it', async () => {
    const place = await newWorkspace();
    await grant(place, '1');
    await use(place, 2n * usd);
    await bring(place, -5);
    await expirePromos(db.pool);
    expect(await linesOf(place, 'expiry')).toEqual([]);
    expect(await promosOf(place)).toMatchObject([{ left: '0', expired: '0', endedAt: expect.any(String) }]);
    expect(await show(place)).toMatchObject({ balance: '-1' });
  });

  it('never counts at admission once it has expired, whether its line is posted or not', async () => {
    const place = await newWorkspace();
    await grant(place, '10');
    const snapshot = snapshotOf({ workspaceId: place.id });
    await makeKey(db, snapshot);
    const node = await startNode(database.url);
    try {
      const claim = () => node.coordinator.claim(requestOf(snapshot, usd / 1000n));
      expect(isRefusal(await claim())).toBe(false);
      expect((await moneyOf(db, place.id)).leased).toBeGreaterThan(usd);
      // Half a minute before, leases are asked back, and what expires is leased to nobody.
      await bring(place, 20);
      await expirePromos(db.pool);
      node.coordinator.recall('workspace', place.id);
      await expect.poll(async () => (await moneyOf(db, place.id)).leased).toBe(usd / 1000n);
      await bring(place, 20);
      expect(isRefusal(await claim())).toBe(false);
      expect(await moneyOf(db, place.id)).toMatchObject({ rows: usd / 1000n, leased: usd / 1000n });
      await bring(place, -1);
      expect(await claim()).toMatchObject({ code: 'insufficient_balance' });
      expect(Number((await show(place)).available)).toBeLessThan(0);
    } finally {
      await node.stop();
    }
  });

  it('stays for the calls that it admitted: its line waits until the rest covers what they hold', async () => {
    const place = await newWorkspace();
    await grant(place, '10');
    await db.pool.query(
      `INSERT INTO hold (call_id, workspace_id, key_id, amount_nano, admitted_at)
       VALUES (gen_random_uuid(), $1, gen_random_uuid(), $2, now())`,
      [place.id, `${4n * usd}`],
    );
    await bring(place, -5);
    await expirePromos(db.pool);
    expect(await linesOf(place, 'expiry')).toEqual([]);
    expect((await show(place)).available).toBe('-4');
    await use(place, 3n * usd);
    await db.pool.query('DELETE FROM hold WHERE workspace_id = $1', [place.id]);
    await expirePromos(db.pool);
    expect(await linesOf(place, 'expiry')).toEqual(['-7']);
    expect((await show(place)).balance).toBe('0');
  });

  it.each([
    ['amount', { amount: '-1' }],
    ['amount', { amount: '1000000.01' }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['reason', { reason: '' }],
  ])('refuses a wrong %s, and gives nothing', async (field, wrong) => {
    const place = await newWorkspace();
    const given = { workspace: place.slug, amount: '1', reason: 'test', expiresAt: far, ...wrong };
    await expect(operate(db, grantCredit, given)).rejects.toMatchObject({ code: 'invalid_body', field });
    expect((await show(place)).balance).toBe('0');
  });

  const step = fc.oneof(
    fc.record({ kind: fc.constant('use' as const), nano: fc.bigInt(1n, 4n * usd) }),
    fc.record({ kind: fc.constant('grant' as const), nano: fc.bigInt(1n, 5n * usd), turn: fc.nat(9) }),
    fc.record({ kind: fc.constant('expire' as const) }),
    fc.record({ kind: fc.constant('look' as const) }),
  );

  it('is spent by any history of usage, credits and expiries as it would be call by call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const place = await newWorkspace();
        // The same call by call: those that expire first are spent first.
        const live: { ref: string; turn: number; leftNano: bigint }[] = [];
        let balanceNano = 0n;
        const inTurn = () =>
          live.toSorted((one, other) => one.turn - other.turn || (one.ref < other.ref ? -1 : 1));
        let turn = 0;
        for (const one of steps) {
          if (one.kind === 'use') {
            await use(place, one.nano);
            balanceNano -= one.nano;
            let restNano = one.nano;
            for (const credit of inTurn()) {
              const beforeNano = credit.leftNano;
              if (restNano < beforeNano) credit.leftNano -= restNano;
              else credit.leftNano = 0n;
              restNano -= beforeNano - credit.leftNano;
            }
          } else if (one.kind === 'grant') {
            // Each a turn of its own, so that no two expire at once.
            turn += 1;
            const at = one.turn * 1000 + turn;
            const expiresAt = new Date(Date.UTC(2150, 0, 1) + at * 1000).toISOString();
            const { ref } = await grant(place, formatUsd(one.nano), expiresAt);
            live.push({ ref, turn: at, leftNano: one.nano });
            balanceNano += one.nano;
          } else if (one.kind === 'expire') {
            const [first] = inTurn();
            if (!first) continue;
            await bring(place, -5, first.ref);
            await expirePromos(db.pool);
            balanceNano -= first.leftNano;
            live.splice(live.indexOf(first), 1);
          }
          const { rows } = await db.pool.query<{ nano: string }>(
            'SELECT balance_nano::text AS nano FROM workspace WHERE id = $1',
            [place.id],
          );
          expect(BigInt(rows[0]?.nano ?? 0)).toBe(balanceNano);
          const left = (await promosOf(place)).filter(({ endedAt }) => endedAt === null);
          const leftNano = (ref: string) => live.find((credit) => credit.ref === ref)?.leftNano;
          for (const { ref, left: shown } of left) expect(parseUsd(shown)).toBe(leftNano(ref));
        }
      }),
      { numRuns: 20 },
    );
    expect(await brokenChecks()).toEqual([]);
  });
});
