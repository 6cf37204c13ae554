import { beforeAll, describe, expect, it } from 'vitest';
import { tellLowBalances } from '#lib/control/billing/low-balance';
import { composeMail } from '#lib/control/mail/compose';
import { grantCredit } from '#lib/control/operations/credit/promo';
import { setLowBalance, showLowBalance } from '#lib/control/operations/low-balance/operations';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import type { Db } from '#lib/platform/data/db';
import { addCredit, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const usd = 1_000_000_000n;
let db: Db;
let made = 0;

beforeAll(async () => {
  db = await openOwnDatabase();
});

interface Place {
  readonly id: string;
  readonly slug: string;
}

/** With one member of each role. */
async function newWorkspace(balance: string): Promise<Place> {
  made += 1;
  const slug = `low-${made}`;
  const { rows } = await db.pool.query<{ id: string }>(
    'INSERT INTO workspace (id, slug, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id',
    [slug],
  );
  const id = rows[0]?.id ?? '';
  await db.pool.query(
    `WITH people AS (
       INSERT INTO "user" (id, email) SELECT gen_random_uuid(), role || $2 FROM unnest($3::text[]) AS role RETURNING id, email)
     INSERT INTO member (workspace_id, user_id, role) SELECT $1, id, split_part(email, '@', 1) FROM people`,
    [id, `@${slug}.example`, ['owner', 'admin', 'developer', 'billing', 'viewer']],
  );
  await addCredit(db, { workspace: slug, amount: balance, reason: 'test' });
  return { id, slug };
}

const set = ({ slug }: Place, threshold: string | null) =>
  operate(db, setLowBalance, { workspace: slug, threshold });
const use = ({ id }: Place, spentNano: bigint) =>
  postUsage(db.pool, [{ id, spentNano, simulatedNano: 0n, calls: 1 }]);
const lookAtOnce = () => Promise.all(Array.from({ length: 8 }, () => tellLowBalances(db.pool)));
const mailsTo = async ({ slug }: Place) =>
  (
    await db.pool.query<{ id: string; recipient: string; kind: string; facts: Record<string, unknown> }>(
      `SELECT id, recipient, kind, facts FROM mail WHERE recipient LIKE '%@' || $1 || '.example' ORDER BY created_at, recipient`,
      [slug],
    )
  ).rows;

describe('a low balance (contract: money/low-balance)', () => {
  it('is mailed once for each crossing, however many processes look, to members who may pay', async () => {
    const place = await newWorkspace('12');
    await set(place, '10');
    await lookAtOnce();
    expect(await mailsTo(place)).toEqual([]);
    await use(place, 3n * usd);
    await lookAtOnce();
    const told = await mailsTo(place);
    expect(told.map(({ recipient }) => recipient.split('@')[0])).toEqual(['admin', 'billing', 'owner']);
    expect(told[0]?.facts).toEqual({ slug: place.slug, name: place.slug, threshold: '10', funds: '9' });
    await use(place, 3n * usd);
    await lookAtOnce();
    expect(await mailsTo(place)).toHaveLength(3);
    await addCredit(db, { workspace: place.slug, amount: '20', reason: 'test' });
    await lookAtOnce();
    await use(place, 20n * usd);
    await lookAtOnce();
    expect(await mailsTo(place)).toHaveLength(6);
  });

  it('is not news to who sets a threshold above it', async () => {
    const place = await newWorkspace('5');
    expect(await set(place, '10')).toEqual({ threshold: '10', below: true });
    await lookAtOnce();
    expect(await mailsTo(place)).toEqual([]);
    expect(await set(place, '4')).toEqual({ threshold: '4', below: false });
    await use(place, 2n * usd);
    await lookAtOnce();
    expect(await mailsTo(place)).toHaveLength(3);
    await set(place, null);
    await use(place, 9n * usd);
    await lookAtOnce();
    expect(await mailsTo(place)).toHaveLength(3);
    expect(await operate(db, showLowBalance, { workspace: place.slug })).toEqual({
      threshold: null,
      below: false,
    });
  });

  it('does not count promo credit that has expired', async () => {
    const place = await newWorkspace('1');
    await operate(db, grantCredit, {
      workspace: place.slug,
      amount: '20',
      reason: 'test',
      expiresAt: '2199-01-01',
    });
    await set(place, '10');
    const past = "now() - interval '1 s'";
    await db.pool.query(`UPDATE promo SET expires_at = ${past} WHERE workspace_id = $1`, [place.id]);
    await db.pool.query(`UPDATE workspace SET promo_ends_at = ${past} WHERE id = $1`, [place.id]);
    await lookAtOnce();
    expect((await mailsTo(place))[0]?.facts).toMatchObject({ funds: '1' });
  });

  it('is a letter that says how much is left, with a link to the billing page', async () => {
    const place = await newWorkspace('3');
    await set(place, '2.5');
    await use(place, usd);
    await lookAtOnce();
    const [mail] = await mailsTo(place);
    if (!mail) throw new Error('nobody was told');
    const letter = await composeMail({ db, keyPepper: 'p', publicUrl: 'https://gateway.example' }, mail);
    expect(letter?.subject).toBe(`${place.slug} is low on funds`);
    expect(letter?.text).toContain('fallen below $2.50, to $2.00');
    expect(letter?.link).toBe(`https://gateway.example/${place.slug}/billing`);
  });

  it.each(['0', '-1', 'a', '1.0000000001'])('refuses the threshold %j', async (threshold) => {
    const place = await newWorkspace('3');
    await expect(set(place, threshold)).rejects.toMatchObject({ code: 'invalid_body', field: 'threshold' });
  });
});
