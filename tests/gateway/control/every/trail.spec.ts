import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkCatalogue } from '#lib/control/catalogue/files';
import type { Operation } from '#lib/control/operations/declare';
import { operations } from '#lib/control/operations/operations';
import { runAny } from '#lib/control/operations/run';
import { type Db, openDb } from '#lib/platform/data/db';
import { controlHost, createWorkspace, sealingKey } from '#tests/support/control/operate';
import { sampleOf } from '#tests/support/control/sample';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { applySet } from '#tests/support/provider/apply-set';
import { startPayments } from '#tests/support/stripe/payments';

const catalogue = `
providers: [{ id: one, name: One, families: { chat: "http://127.0.0.1:1/v1" }, credential: { env: ONE_KEY } }]
models:
  - { id: openai/gpt-4.1, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: one, upstreamModel: m, families: [chat], price: { input: "2" } }] }
`;

let database: TestDatabase;
let db: Db;
let stripe: Awaited<ReturnType<typeof startPayments>>;
let workspace: string;
let workspaceId: string;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  stripe = await startPayments();
  await applySet(db, checkCatalogue([{ name: 'trail.yaml', text: catalogue }]));
  ({ slug: workspace, id: workspaceId } = await createWorkspace(db, { name: 'Trail', credit: '10' }));
});
afterAll(async () => {
  await stripe.close();
  await db.close();
  await database.drop();
});

const actor = { kind: 'operator', name: 'test', address: '192.0.2.7' } as const;
const run = (operation: Operation, input: Record<string, unknown>) =>
  runAny({ ...controlHost(db), ...stripe, ...keysFor(operation) }, operation, { actor, workspace, input });
/** There is something to rotate once another key is the first. */
const keysFor = ({ name }: Operation) =>
  name === 'secret.rotate' ? { sealingKey: [new Uint8Array(32).fill(8), sealingKey] } : {};
const named = (name: string) => operations.find((one) => one.name === name);

/** What must have happened to a thing before, so that the operation changes something of it. */
const earlier: Readonly<Record<string, string>> = {
  'key.enable': 'key.disable',
  'key.restore': 'key.exhaust',
  'key.end-overlap': 'key.rotate',
  'policy.rollback': 'policy.set',
  'policy.publish': 'policy.set',
  'policy.discard': 'policy.save',
  'provider.test': 'provider.set-credential',
  'view.end-alert': 'view.alert',
  'secret.rotate': 'provider.set-credential',
};
/** What the samples leave out of these. */
const begun: Readonly<Record<string, Record<string, unknown>>> = {
  'policy.set': { policy: { maxAttempts: 3 } },
  'policy.save': { policy: { maxAttempts: 3 } },
  'key.rotate': { overlapSeconds: 60 },
  'view.alert': { over: 1 },
  'provider.set-credential': { provider: 'one', value: 'sk-trail' },
};
/** What the samples leave out, so that the operation changes something. */
const wanted: Readonly<Record<string, Record<string, unknown>>> = {
  'key.set': { name: 'renamed', rpm: 5, dailyCap: '1' },
  'auto-top-up.set': { threshold: '7' },
  'workspace.set': { name: 'Renamed', rpm: 5, credit: '11' },
  'member.set': { role: 'viewer' },
  'alert.set': { limit: false },
  'tag-budget.set': { rpm: 5 },
  'provider.set': { name: 'Renamed' },
  'catalogue.apply': { files: [{ name: 'a.yaml', text: catalogue.replace('"2"', '"3"') }] },
  'catalogue.take-over': {
    files: [{ name: 'a.yaml', text: catalogue.replace('"2"', '"4"') }],
    changed: ['offer openai/gpt-4.1 one'],
  },
};
/** What the snapshots of the gateway processes hold, by noun; other nouns are read from the database each time. */
const announced: Readonly<Record<string, string>> = {
  key: 'key',
  workspace: 'workspace',
  member: 'workspace',
  policy: 'policy',
  catalogue: 'catalogue',
  credit: 'workspace',
  'tag-budget': 'workspace',
};

/** An operation that changes something, its answer, and every text in both that is a secret. */
async function changed(operation: Operation): Promise<{ secrets: string[] }> {
  const { input } = await sampleOf({ ...controlHost(db), ...stripe }, operation, workspace);
  const before = named(earlier[operation.name] ?? '');
  if (operation.name === 'demo.remove') {
    await db.prisma.workspace.create({
      data: { id: randomUUID(), slug: 'demo-data', name: 'Demo data', demo: true },
    });
  }
  if (operation.name === 'auto-top-up.resume') {
    const paused = { pausedAt: new Date(), pausedReason: 'declined', cents: 1_000, monthCents: 1_000 };
    const of = { workspaceId };
    const card = { paymentMethod: 'pm_1' };
    await db.prisma.payer.upsert({
      where: { workspaceId_livemode: { ...of, livemode: false } },
      create: { ...of, livemode: false, customer: 'cus_1', ...card },
      update: card,
    });
    await db.prisma.autoTopUp.deleteMany({ where: of });
    await db.prisma.autoTopUp.create({ data: { ...of, ...paused, enabled: true, thresholdNano: 1n } });
  }
  if (operation.name === 'workspace.delete') {
    const { slug } = await createWorkspace(db, { name: 'Gone' });
    const asked = { actor, workspace: slug, input: { confirm: slug } };
    await runAny({ ...controlHost(db), ...stripe }, operation, asked);
    return { secrets: [] };
  }
  if (before) await run(before, { ...input, ...begun[before.name] });
  const given = { ...input, ...wanted[operation.name] };
  const { output } = await run(operation, given);
  const secret = Object.entries(operation.fields).filter(([, field]) => field.secret);
  const made = typeof output === 'object' && output !== null && 'key' in output ? [String(output.key)] : [];
  return { secrets: [...secret.map(([name]) => String(given[name])), ...made] };
}

/** Whether it is about a workspace of its own. */
const ownPlace = ({ name, reach }: Operation) => reach === 'gateway' || name === 'workspace.delete';

/** Those of them that change nothing that a snapshot holds. */
const quiet: readonly string[] = [
  'policy.save',
  'policy.discard',
  'catalogue.update',
  'catalogue.dismiss',
  'catalogue.daily',
];

/** Asked for by people alone: their trails are proven in accounts/playground.spec.ts and alerts/views.spec.ts. */
const ofPeople = ['playground.open', 'view.subscribe', 'view.unsubscribe'];

/** What people do with their own account has its trail proven in accounts/trail.spec.ts. */
const mutations = operations.filter(
  ({ kind, reach, name }) => kind !== 'read' && reach !== 'self' && !ofPeople.includes(name),
);

describe.each(mutations)('$name', (operation) => {
  it('leaves one audit row with what differs and no secret, and the change that processes must hear of', async () => {
    const state = async () => ({
      rows: await db.prisma.audit.findMany({ where: { action: operation.name }, orderBy: { id: 'asc' } }),
      changes: (await db.pool.query<{ kind: string }>('SELECT kind FROM change ORDER BY position')).rows,
    });
    const was = await state();
    const { secrets } = await changed(operation);
    const is = await state();
    const [row, ...more] = is.rows.slice(was.rows.length);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ actor: 'test', address: '192.0.2.7', subject: expect.stringMatching(/./) });
    expect([null, workspaceId, ...(ownPlace(operation) ? [row?.subject] : [])]).toContain(
      row?.workspaceId ?? null,
    );
    expect(row?.before === null && row.after === null).toBe(false);
    if (operation.kind === 'create') expect(row?.before).toBeNull();
    else expect(row?.before ?? row?.after).not.toEqual(row?.after ?? {});
    for (const secret of secrets) expect(JSON.stringify(row)).not.toContain(secret);
    const kind = announced[operation.name.split('.')[0] ?? ''];
    if (kind && !quiet.includes(operation.name))
      expect(is.changes.slice(was.changes.length).map((one) => one.kind)).toContain(kind);
  });
});
