import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showKeyUse } from '#lib/control/operations/key/use';
import { ControlRefused } from '#lib/control/operations/refusal';
import { loadKey } from '#lib/gateway/snapshot/load';
import { type Db, openDb } from '#lib/platform/data/db';
import { idFloor } from '#lib/platform/ids';
import { hashKey, isWellFormedKey } from '#lib/platform/secrets';
import {
  addMember,
  createKey,
  createKeyAs,
  createUser,
  createWorkspace,
  disableKey,
  enableKey,
  exhaustKey,
  findKey,
  listKeys,
  operate,
  restoreKey,
  revokeKey,
  rotateKey,
  setKey,
  setWorkspace,
} from '#tests/support/control/operate';
import { spendAgo } from '#tests/support/control/spend';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const pepper = 'pepper';
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  await db.prisma.model.createMany({
    data: ['a/b', 'c', 'a'].map((id) => ({ id, name: id, contextTokens: 0, maxOutputTokens: 0 })),
  });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

type Settings = Record<string, unknown>;

async function newKey(settings: Settings = {}) {
  const workspace = await createWorkspace(db, { name: 'Keys' });
  const made = await createKey(db, { workspace: workspace.slug, name: 'first', ...settings }, pepper);
  return { ...made, workspace };
}

function load(secret: string) {
  return loadKey(db.pool, hashKey(secret, pepper));
}

async function trailOf(subject: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ action: string }>(
    'SELECT action FROM audit WHERE subject = $1 ORDER BY id',
    [subject],
  );
  return rows.map((row) => row.action);
}

async function changesOf(subject: string): Promise<number> {
  const { rows } = await db.pool.query('SELECT 1 FROM change WHERE subject = $1', [subject]);
  return rows.length;
}

function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (error: unknown) => {
      if (error instanceof ControlRefused) return error.message;
      throw error;
    },
  );
}

describe('creating a key (contract: operations/key-create)', () => {
  it('gives a well-formed key once, stored as its hash and 11 characters', async () => {
    const { id, key } = await newKey();
    expect(isWellFormedKey(key)).toBe(true);
    const { rows } = await db.pool.query('SELECT to_jsonb(k)::text AS row FROM api_key k WHERE id = $1', [
      id,
    ]);
    expect(rows[0].row).not.toContain(key.slice(7, -4));
    expect(await findKey(db, id)).toMatchObject({ display: `${key.slice(0, 7)}…${key.slice(-4)}` });
    const audit = await db.pool.query('SELECT detail::text FROM audit WHERE subject = $1', [id]);
    expect(audit.rows[0].detail).not.toContain(key);
  });

  it('makes it active without limits, caps or scope', async () => {
    const { id, workspace } = await newKey();
    expect(await findKey(db, id)).toMatchObject({
      id,
      name: 'first',
      workspace: workspace.slug,
      status: 'active',
      quotaExhausted: false,
      models: null,
      maxOutputTokens: null,
      dailyCap: null,
      d7Cap: null,
      d30Cap: null,
      quota: null,
      rpm: null,
      tpm: null,
      concurrency: null,
      expiresAt: null,
      spent: { day: '0', d7: '0', d30: '0', total: '0' },
      lastUsedAt: null,
    });
  });

  it('stores all settings and the snapshot carries them', async () => {
    const { id, key, workspace } = await newKey({
      models: ['a/b', 'c'],
      maxOutputTokens: 100,
      dailyCap: '1.5',
      d7Cap: '2',
      d30Cap: '0.000000001',
      quota: '10',
      rpm: 60,
      tpm: 1000,
      concurrency: 2,
      expiresAt: '2199-01-31T12:00:00Z',
    });
    const shown = { models: ['a/b', 'c'], dailyCap: '1.5', d30Cap: '0.000000001', quota: '10', rpm: 60 };
    expect(await findKey(db, id)).toMatchObject({ ...shown, expiresAt: '2199-01-31T12:00:00.000Z' });
    expect(await load(key)).toEqual({
      key: {
        id,
        name: 'first',
        status: 'active',
        quotaExhausted: false,
        models: new Set(['a/b', 'c']),
        maxOutputTokens: 100,
        caps: { dayNano: 1_500_000_000n, d7Nano: 2_000_000_000n, d30Nano: 1n, quotaNano: 10_000_000_000n },
        limits: { rpm: 60, tpm: 1000, concurrency: 2 },
        expiresAtMs: Date.UTC(2199, 0, 31, 12),
        ownerRemoved: false,
        sessionEnded: false,
      },
      workspace: {
        id: workspace.id,
        slug: workspace.slug,
        timeZone: 'UTC',
        strict: false,
        suspended: false,
        limits: { rpm: 600, tpm: 4_000_000, concurrency: 50 },
      },
      policies: new Map(),
      content: null,
      secretUntilMs: null,
    });
  });

  it.each<[string, Settings, RegExp]>([
    ['a limit of 0', { rpm: 0 }, /^rpm: a limit must be a whole number/],
    ['a negative limit', { tpm: -1 }, /^tpm: /],
    ['a fraction', { concurrency: 1.5 }, /^concurrency: /],
    ['a limit that no column holds', { maxOutputTokens: 2_147_483_648 }, /^maxOutputTokens: /],
    ['a word as a limit', { rpm: '10/min' }, /^rpm: /],
    ['a cap of 0', { dailyCap: '0' }, /^dailyCap: .*more than 0/],
    ['a negative quota', { quota: '-5' }, /^quota: .*more than 0/],
    ['a cap that is no amount', { d7Cap: 'much' }, /^d7Cap: .*dollars/],
    ['an empty scope', { models: [] }, /^models: name at least one model/],
    ['a time without a zone', { expiresAt: '2027-01-31T12:00' }, /^expiresAt: must be a date such as/],
    [
      'an expiry that is over',
      { expiresAt: '2020-01-01T00:00:00Z' },
      /^expiresAt: this time is in the past; choose a later/,
    ],
    ['a nameless key', { name: ' ' }, /^name: a name is required/],
    [
      'a name of two lines',
      { name: 'a\nb' },
      /^name: a name must not contain line breaks or control characters/,
    ],
    ['a name that turns text round', { name: 'a\u202Eb' }, /^name: a name must not contain line breaks/],
  ])('refuses %s and says what to write', async (_name, settings, message) => {
    expect(await refusalOf(newKey(settings))).toMatch(message);
  });

  it('refuses an unknown workspace', async () => {
    const made = createKey(db, { workspace: 'absent', name: 'k' }, pepper);
    expect(await refusalOf(made)).toContain('no workspace "absent"');
  });

  it('belongs to the member who makes it, and stops when that member leaves', async () => {
    const { workspace } = await newKey();
    const user = await createUser(db, {
      email: 'finder@example.com',
      password: 'long enough',
      workspace: workspace.slug,
    });
    const { key } = await createKeyAs(db, user.id, { workspace: workspace.id, name: 'own' });
    expect((await load(key))?.key.ownerRemoved).toBe(false);
    await db.prisma.member.deleteMany({ where: { userId: user.id } });
    expect((await load(key))?.key.ownerRemoved).toBe(true);
  });
});

describe('setting a key', () => {
  it('changes what is given, removes with null, and leaves the rest', async () => {
    const { id } = await newKey({ models: ['a'], rpm: 5, tpm: 7, dailyCap: '1', expiresAt: '2199-01-31' });
    await setKey(db, { id, rpm: null, models: null, dailyCap: null, name: 'renamed' });
    expect(await findKey(db, id)).toMatchObject({
      name: 'renamed',
      rpm: null,
      tpm: 7,
      models: null,
      dailyCap: null,
      expiresAt: '2199-01-31T23:59:59.000Z',
    });
    expect(await trailOf(id)).toEqual(['key.create', 'key.set']);
  });

  it('reads a date in the zone of the key’s workspace, named or not, and refuses one that is over', async () => {
    const { id, workspace } = await newKey();
    await setWorkspace(db, { workspace: workspace.slug, timeZone: 'Asia/Kathmandu' });
    const end = { expiresAt: '2199-01-31T18:14:59.000Z' };
    expect(await setKey(db, { id, expiresAt: '2199-01-31' })).toMatchObject(end);
    expect(
      await setKey(db, { id, workspace: workspace.slug, expiresAt: '2199-01-31T18:14:59Z' }),
    ).toMatchObject(end);
    const past = setKey(db, { id, expiresAt: '2020-01-01T00:00:00Z', rpm: 5 });
    expect(await refusalOf(past)).toMatch(/^expiresAt: this time is in the past; choose a later/);
    expect(await findKey(db, id)).toMatchObject({ ...end, rpm: null });
  });

  it('clears the quota flag when the quota is raised, and sets it when spend has reached the new one', async () => {
    const { id } = await newKey({ quota: '1' });
    await db.pool.query('UPDATE api_key SET quota_exhausted = true, spent_nano = 1000000000 WHERE id = $1', [
      id,
    ]);
    await setKey(db, { id, rpm: 5 });
    expect(await findKey(db, id)).toMatchObject({ quotaExhausted: true });
    await setKey(db, { id, quota: '2' });
    expect(await findKey(db, id)).toMatchObject({ quotaExhausted: false, quota: '2' });
    await setKey(db, { id, quota: '0.5' });
    expect(await findKey(db, id)).toMatchObject({ quotaExhausted: true });
    await setKey(db, { id, quota: null });
    expect(await findKey(db, id)).toMatchObject({ quotaExhausted: false, quota: null });
  });

  it('recalls the leases of a key whose caps change', async () => {
    const { id } = await newKey();
    await setKey(db, { id, dailyCap: '1' });
    expect(await changesOf(`key:${id}`)).toBe(1);
  });
});

describe('the states of a key (contract: authentication/states, authentication/quota-flag)', () => {
  it('goes active, inactive, active, each step in the audit and the change feed', async () => {
    const { id, key } = await newKey();
    expect(await disableKey(db, { id })).toMatchObject({ id, status: 'inactive', quotaExhausted: false });
    expect((await load(key))?.key.status).toBe('inactive');
    expect(await enableKey(db, { id })).toMatchObject({ status: 'active' });
    expect(await exhaustKey(db, { id })).toMatchObject({ status: 'active', quotaExhausted: true });
    expect(await restoreKey(db, { id })).toMatchObject({ quotaExhausted: false });
    expect(await trailOf(id)).toEqual([
      'key.create',
      'key.disable',
      'key.enable',
      'key.exhaust',
      'key.restore',
    ]);
    expect(await changesOf(id)).toBe(5);
  });

  it('changes nothing when it is there already', async () => {
    const { id } = await newKey();
    await enableKey(db, { id });
    expect(await trailOf(id)).toEqual(['key.create']);
  });

  it('is final once revoked', async () => {
    const { id } = await newKey();
    await revokeKey(db, { id });
    await revokeKey(db, { id });
    const verbs = [enableKey, disableKey, exhaustKey].map((verb) => refusalOf(verb(db, { id })));
    const others = [setKey(db, { id, rpm: 1 }), rotateKey(db, { id }, pepper)].map(refusalOf);
    for (const message of await Promise.all([...verbs, ...others])) expect(message).toMatch(/revoked/);
    expect(await findKey(db, id)).toMatchObject({ status: 'revoked', rpm: null });
    expect(await trailOf(id)).toEqual(['key.create', 'key.revoke']);
  });

  it('lets one of two racing opposites come last, never a revoked key back', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await newKey();
      await Promise.all([
        revokeKey(db, { id }),
        refusalOf(disableKey(db, { id })),
        refusalOf(enableKey(db, { id })),
      ]);
      expect(await findKey(db, id)).toMatchObject({ status: 'revoked' });
    }
  });

  it('cannot be touched from another workspace', async () => {
    const { id } = await newKey();
    const { workspace } = await newKey();
    const scope = { id, workspace: workspace.slug };
    for (const act of [enableKey, disableKey, revokeKey, setKey, rotateKey]) {
      expect(await refusalOf(act(db, scope))).toContain('no API key');
    }
    expect(await refusalOf(findKey(db, id, workspace.slug))).toContain('no API key');
    expect(await refusalOf(revokeKey(db, { id: 'no-uuid' }))).toContain('no API key');
  });
});

describe('rotating a key (contract: authentication/rotation)', () => {
  it('keeps id, limits and spend, and lets the old secret work until the overlap ends', async () => {
    const { id, key } = await newKey({ rpm: 9 });
    const before = Date.now();
    const rotated = await rotateKey(db, { id, overlapSeconds: 60 }, pepper);
    expect(rotated.id).toBe(id);
    const [old, current] = await Promise.all([load(key), load(rotated.key)]);
    expect(current).toMatchObject({ key: { id, limits: { rpm: 9 } }, secretUntilMs: null });
    expect(old?.key.id).toBe(id);
    expect(old?.secretUntilMs).toBeGreaterThanOrEqual(before + 60_000);
    expect(old?.secretUntilMs).toBeLessThan(Date.now() + 60_001);
    expect(await changesOf(id)).toBe(2);
  });

  it('stops the old secret at once without an overlap, and the oldest at a second rotation', async () => {
    const { id, key } = await newKey();
    const second = await rotateKey(db, { id, overlapSeconds: 60 }, pepper);
    const third = await rotateKey(db, { id, overlapSeconds: 60 }, pepper);
    expect(await load(key)).toBeNull();
    expect(await load(second.key)).not.toBeNull();
    const fourth = await rotateKey(db, { id }, pepper);
    expect(await load(third.key)).toBeNull();
    expect((await load(fourth.key))?.key.id).toBe(id);
    const tooLong = rotateKey(db, { id, overlapSeconds: 1e9 }, pepper);
    expect(await refusalOf(tooLong)).toMatch(/^overlapSeconds: .* to 2592000$/);
  });
});

describe('showing keys', () => {
  it('sums spend of the day in the time zone of the workspace, of 168 and of 720 hours', async () => {
    const { id, workspace } = await newKey();
    const spend = (hoursAgo: number, nano: bigint) => spendAgo(db.pool, id, hoursAgo * 60, nano);
    await spend(0, 1n);
    await spend(26, 10n);
    await spend(169, 100n);
    await spend(721, 1000n);
    const spent = { day: '0.000000001', d7: '0.000000011', d30: '0.000000111', total: '0' };
    expect(await findKey(db, id)).toMatchObject({ spent });
    // Written past the verbs: the page still shows.
    await db.pool.query(`UPDATE workspace SET time_zone = 'Mars/Base' WHERE id = $1`, [workspace.id]);
    expect(await findKey(db, id)).toMatchObject({ spent });
  });

  it('say when a cap that is reached admits calls again (contract: operations/key-use)', async () => {
    const { id } = await newKey({ dailyCap: '1', d7Cap: '0.000000010', d30Cap: '0.000000050', quota: '0.5' });
    const spend = (minutesAgo: number, nano: bigint) => spendAgo(db.pool, id, minutesAgo, nano);
    const minute = 60_000;
    const thisMinute = Math.floor(Date.now() / minute) * minute;
    await spend(60 * 24 * 2, 3n);
    await spend(60 * 24 * 3, 8n);
    await spend(60 * 24 * 4, 8n);
    const shown = await operate(db, showKeyUse, { id });
    expect(shown.day).toEqual({ spent: expect.any(String), cap: '1', freesAt: null });
    expect(shown.d7).toMatchObject({ spent: '0.000000019', cap: '0.00000001' });
    // Without what was spent three days ago, 3 of 10 are left.
    const freesMs = thisMinute - 3 * 24 * 60 * minute + (7 * 24 * 60 + 1) * minute;
    expect(Math.abs(Date.parse(shown.d7.freesAt ?? '') - freesMs)).toBeLessThanOrEqual(minute);
    expect(shown.d30).toMatchObject({ spent: '0.000000019', freesAt: null });
    expect(shown.quota).toEqual({ spent: '0', cap: '0.5', freesAt: null });
    expect(shown.held).toBe('0');
  });

  it('tells what refuses the calls of each, from its caps, its workspace’s funds and its latest calls', async () => {
    const { id, workspace } = await newKey();
    const causeOf = async (key: string) =>
      (await listKeys(db, workspace.id)).data.find((one) => one.id === key)?.refusing?.cause ?? null;
    expect(await causeOf(id)).toBe('funds');
    await setWorkspace(db, { workspace: workspace.id, credit: '5' });
    expect(await causeOf(id)).toBeNull();
    const capped = await createKey(db, { workspace: workspace.id, name: 'b', d7Cap: '0.00000001' }, pepper);
    await spendAgo(db.pool, capped.id, 60 * 24 * 2, 11n);
    expect(await causeOf(capped.id)).toBe('d7');
    const { refusing } = await findKey(db, capped.id);
    expect(Date.parse(refusing?.until ?? '')).toBeGreaterThan(Date.now() + 4 * 86_400_000);
    const called = (errorCode: string | null, minutesAgo: number, flags: string[] = []) =>
      db.pool.query(
        `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, requested_model, error_code, streamed,
           latency_ms, overhead_ms, end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano)
         VALUES ($1, $2, $3, $4, 'chat', 'chat.create', 200, 'a/b', $5, false, 1, 1, 'completed', 'none', $6, '{}', '[]', '[]', 0, 0, 0)`,
        [
          idFloor(Date.now() - minutesAgo * 60_000),
          new Date(Date.now() - minutesAgo * 60_000),
          workspace.id,
          id,
          errorCode,
          flags,
        ],
      );
    expect(await findKey(db, id)).toMatchObject({ lastUsedAt: null, lastTriedAt: null });
    await called('api_key_rpm_exceeded', 61);
    expect((await findKey(db, id)).lastTriedAt).toMatch(/Z$/);
    await called(null, 59);
    expect(await causeOf(id)).toBeNull();
    // The limits of a tag and of an end user are not the key's.
    await called('api_key_rpm_exceeded', 58, ['tag_limit_feature']);
    await called('api_key_tpm_exceeded', 57, ['end_user_limit']);
    expect(await causeOf(id)).toBeNull();
    await called('api_key_rpm_exceeded', 50);
    await called('workspace_tpm_exceeded', 40);
    await called(null, 30);
    const rate = { code: 'workspace_tpm_exceeded', latest: { refused: 2, calls: 6, model: null } };
    expect((await findKey(db, id)).refusing).toMatchObject({ cause: 'rate', ...rate });
    await called('model_not_allowed', 20);
    expect((await findKey(db, id)).refusing).toMatchObject({ cause: 'model', latest: { model: 'a/b' } });
    await called(null, 10);
    expect(await causeOf(id)).toBe('rate');
    await setWorkspace(db, { workspace: workspace.id, suspended: true });
    expect([await causeOf(id), await causeOf(capped.id)]).toEqual(['suspended', 'suspended']);
  });

  it('lists the keys of one workspace, newest first', async () => {
    const { id, workspace } = await newKey();
    const second = await createKey(db, { workspace: workspace.id, name: 'second' }, pepper);
    expect((await listKeys(db, workspace.id)).data.map((key) => key.id)).toEqual([second.id, id]);
  });

  it('lists them in pages that stay the same while keys are made and revoked', async () => {
    const { id, workspace } = await newKey();
    const made = [id];
    for (const name of ['b', 'c', 'd', 'e'])
      made.unshift((await createKey(db, { workspace: workspace.id, name }, pepper)).id);
    const [e, d, c, b, a] = made;
    const first = await listKeys(db, workspace.id, { limit: 2 });
    expect(first.data.map((key) => key.id)).toEqual([e, d]);
    await createKey(db, { workspace: workspace.id, name: 'later' }, pepper);
    await revokeKey(db, { id: d ?? '' });
    const second = await listKeys(db, workspace.id, { limit: 2, after: first.next ?? '' });
    expect(second.data.map((key) => key.id)).toEqual([c, b]);
    const third = await listKeys(db, workspace.id, { limit: 2, after: second.next ?? '' });
    expect(third.data.map((key) => key.id)).toEqual([a, d]);
    expect(third.next).toBeNull();
    const other = await newKey();
    expect((await listKeys(db, other.workspace.id, { after: first.next ?? '' })).data).toEqual([]);
    expect(await refusalOf(listKeys(db, workspace.id, { after: 'garbage' }))).toMatch(/^after: /);
    expect((await listKeys(db, workspace.id, { search: 'LATE' })).data.map((key) => key.name)).toEqual([
      'later',
    ]);
  });

  it('ranks them by what they spent in 30 days, whichever were never used', async () => {
    const { id: much, workspace } = await newKey();
    const add = async (name: string) => (await createKey(db, { workspace: workspace.id, name }, pepper)).id;
    const [little, none, formerly] = [await add('little'), await add('none'), await add('formerly')];
    const other = await newKey();
    await spendAgo(db.pool, much, 60 * 24 * 20, 9_000n);
    await spendAgo(db.pool, much, 5, 1_000n);
    await spendAgo(db.pool, little, 5, 2_000n);
    await spendAgo(db.pool, formerly, 60 * 24 * 40, 90_000n);
    await spendAgo(db.pool, other.id, 5, 90_000n);
    const ranked = async (sort: string) =>
      (await listKeys(db, workspace.id, { sort, limit: 2 })).data.map((key) => [key.id, key.spent.d30]);
    expect(await ranked('-spend')).toEqual([
      [much, '0.00001'],
      [little, '0.000002'],
    ]);
    expect((await ranked('spend')).map(([id]) => id).toSorted()).toEqual([none, formerly].toSorted());
  });

  it('finds them by status, creator and model', async () => {
    const { id, workspace } = await newKey();
    const email = `${randomUUID()}@example.com`;
    const { id: user } = await createUser(db, {
      email,
      password: 'three random words',
    });
    await addMember(db, { workspace: workspace.slug, email, role: 'developer' });
    const made = await createKeyAs(db, user, { workspace: workspace.slug, name: 'made', models: ['a/b'] });
    await disableKey(db, { id });
    const found = async (filters: object) =>
      (await listKeys(db, workspace.id, { ...filters })).data.map((key) => key.id);
    expect(await found({ status: 'inactive' })).toEqual([id]);
    expect(await found({ createdBy: user })).toEqual([made.id]);
    expect(await found({ createdBy: 'nobody' })).toEqual([]);
    expect(await found({ model: 'a/b' })).toEqual([made.id, id]);
    expect(await found({ model: 'c', sort: 'name' })).toEqual([id]);
  });
});
