import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkCatalogue } from '#lib/control/catalogue/files';
import type { Actor } from '#lib/control/operations/actor';
import type { Mutation, Reach, Read } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { discardDraft, openPolicy, publishPolicy, saveDraft } from '#lib/control/operations/policy/drafts';
import { rollBackPolicy, setPolicy } from '#lib/control/operations/policy/operations';
import { reviewPolicy } from '#lib/control/operations/policy/review';
import { listVersions } from '#lib/control/operations/policy/versions';
import { explainRoute } from '#lib/control/operations/route/operations';
import { ask } from '#lib/control/operations/run';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Db, openDb } from '#lib/platform/data/db';
import { addMember, controlHost, createWorkspace } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { applySet } from '#tests/support/provider/apply-set';

const catalogue = `
providers:
  - { id: one, name: One, families: { chat: "https://one.test/v1", messages: "https://one.test/v1" }, credential: { env: SOME_KEY } }
  - { id: two, name: Two, families: { chat: "https://two.test/v1" }, credential: { env: SOME_KEY } }
models:
  - { id: a/first, name: F, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: one, upstreamModel: f, families: [chat, messages], price: { input: "2" } },
               { provider: two, upstreamModel: f, families: [chat], price: { input: "1" } }] }
  - { id: a/second, name: S, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: two, upstreamModel: s, families: [chat], price: { input: "1" } }] }
`;

let database: TestDatabase;
let db: Db;
let slug: string;
let ann: Actor;
let bob: Actor;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  await applySet(db, checkCatalogue([{ name: 'drafts.yaml', text: catalogue }]));
});
beforeEach(async () => {
  ({ slug } = await createWorkspace(db, { name: 'Drafts' }));
  [ann, bob] = [await person('Ann'), await person('Bob')];
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

async function person(name: string): Promise<Actor> {
  const id = randomUUID();
  const email = `${id}@example.com`;
  await db.prisma.user.create({ data: { id, name, email } });
  await addMember(db, { workspace: slug, email, role: 'developer' });
  return { kind: 'user', userId: id, operator: false, address: null };
}

function as<F extends Fields, Out, R extends Reach>(
  actor: Actor,
  operation: Read<F, Out, R> | Mutation<F, Out, R>,
  input: Record<string, unknown>,
): Promise<Out> {
  const catalogue = () => loadCatalogue(db.pool, { envSecret: () => 'secret', sealingKey: null });
  return ask({ ...controlHost(db), catalogue }, operation, { actor, workspace: slug, input });
}

describe('a draft of a policy (contract: routing/drafts)', () => {
  it('is kept unfinished, for everybody, and routes nothing', async () => {
    const draft = { fallbackModels: ['no/such'], maxAttempts: 9 };
    expect(await as(ann, saveDraft, { policy: draft, base: 0, revision: 0 })).toEqual({ revision: 1 });
    const opened = await as(bob, openPolicy, {});
    expect(opened).toMatchObject({
      version: 0,
      policy: {},
      draft: { policy: draft, savedBy: 'Ann', base: 0 },
    });
    const { candidates } = await as(bob, explainRoute, { model: 'a/first' });
    expect(candidates).toHaveLength(2);
  });

  it('of an earlier reading is refused, and says whose stands', async () => {
    await as(ann, saveDraft, { policy: { sort: 'price' }, revision: 0 });
    const stale = as(bob, saveDraft, { policy: { sort: 'latency' }, revision: 0 });
    await expect(stale).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('was saved meanwhile by Ann'),
    });
    expect((await as(bob, openPolicy, {})).draft?.policy).toEqual({ sort: 'price' });
    await expect(as(bob, discardDraft, { revision: 7 })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is refused when two save at once, but for one of them', async () => {
    const both = [ann, bob].map((one) => as(one, saveDraft, { policy: { sort: 'price' }, revision: 0 }));
    const ended = await Promise.allSettled(both);
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is gone once it is published, and another version that came first is not overwritten', async () => {
    await as(ann, saveDraft, { policy: { sort: 'price' }, base: 0, revision: 0 });
    const published = await as(ann, publishPolicy, { policy: { sort: 'price' }, base: 0, revision: 1 });
    expect(published).toEqual({ version: 1 });
    expect((await as(bob, openPolicy, {})).draft).toBeNull();
    const stale = as(bob, publishPolicy, { policy: { sort: 'latency' }, base: 0 });
    await expect(stale).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Ann has published version 1 of the default policy'),
    });
    expect(await as(bob, openPolicy, {})).toMatchObject({ version: 1, policy: { sort: 'price' } });
  });

  it('shows all that stands against it, each where it stands', async () => {
    const unknown = {
      fallbackModels: ['a/second', 'no/such'],
      weights: { nobody: 2 },
      aliases: { 'a/first': 'a/second' },
    };
    const { faults, changes } = await as(ann, reviewPolicy, { policy: unknown });
    expect(faults.map(({ at }) => at.join('.'))).toEqual([
      'fallbackModels.1',
      'weights.nobody',
      'aliases.a/first',
    ]);
    expect(changes).toContain('Fallback models: added no/such as number 3');
    const shape = await as(ann, reviewPolicy, { policy: { maxAttempts: 9, colour: 1 } });
    expect(shape.faults.map(({ at }) => at.join('.')).sort()).toEqual(['colour', 'maxAttempts']);
  });

  it('may be explained before it is in force, for a pasted request', async () => {
    const asked = { body: { model: 'a/first', messages: [] }, path: '/v1/chat/completions' };
    const policy = { order: ['two'], fallbackModels: ['a/second'] };
    const { candidates, family } = await as(ann, explainRoute, { ...asked, policy });
    expect(family).toBe('chat');
    expect(candidates.map(({ provider, model }) => `${provider} ${model}`)).toEqual([
      'two a/first',
      'one a/first',
      'two a/second',
    ]);
    const messages = await as(ann, explainRoute, { model: 'a/first', path: '/v1/messages', policy });
    expect(messages.candidates.map(({ provider, translatedTo }) => [provider, translatedTo])).toEqual([
      ['one', null],
      ['two', 'chat'],
      ['two', 'chat'],
    ]);
    const threaded = {
      model: 'a/first',
      messages: [{ role: 'user', content: 'Hi' }],
      thread: { type: 'create' },
    };
    const native = await as(ann, explainRoute, { path: '/v1/messages', body: threaded });
    expect(native.candidates.map(({ provider }) => provider)).toEqual(['one']);
    expect(native.skipped).toMatchObject([{ provider: 'two', why: expect.stringContaining('"thread"') }]);
    const lost = as(ann, explainRoute, { path: '/v1/nothing', model: 'a/first' });
    await expect(lost).rejects.toMatchObject({ code: 'invalid_body', field: 'path' });
    await expect(as(ann, explainRoute, {})).rejects.toMatchObject({ code: 'invalid_body', field: 'model' });
  });
});

describe('versions of a policy', () => {
  it('tell who changed what, and any of them comes back as a new one', async () => {
    await as(ann, setPolicy, { policy: { sort: 'price' } });
    await as(bob, setPolicy, { policy: { sort: 'price', maxAttempts: 2 } });
    await as(bob, setPolicy, { policy: { maxAttempts: 2 } });
    const back = await as(ann, rollBackPolicy, { to: 1 });
    expect(back).toMatchObject({ version: 4, restored: 1, policy: { sort: 'price' } });
    const { data, next } = await as(ann, listVersions, { limit: 3 });
    expect(data.map(({ version, by, changes }) => [version, by, changes])).toEqual([
      [4, 'Ann', ['Sort: set to price', 'Attempts: removed 2']],
      [3, 'Bob', ['Sort: removed price']],
      [2, 'Bob', ['Attempts: set to 2']],
    ]);
    const rest = await as(ann, listVersions, { before: next });
    expect(rest.data.map(({ version, changes }) => [version, changes])).toEqual([
      [1, ['Sort: set to price']],
    ]);
    const never = as(ann, rollBackPolicy, { to: 9 });
    await expect(never).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('version 9'),
    });
  });
});
