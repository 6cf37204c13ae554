import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportContent } from '#lib/control/operations/content/export';
import { deleteContent, showContent } from '#lib/control/operations/content/operations';
import { searchContent } from '#lib/control/operations/content/search';
import type { Mutation, Reach } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { ask as askOperation } from '#lib/control/operations/run';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import { dropPartitions } from '#lib/control/retention/partitions';
import { closeBalanced } from '#tests/support/books';
import { canaries } from '#tests/support/canaries';
import { ask } from '#tests/support/chat-call';
import { commandLine } from '#tests/support/command';
import {
  addMember,
  controlHost,
  createUser,
  findCall,
  setKey,
  setWorkspace,
} from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { secrets } from '#tests/support/shared/attach';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';

const requests = {
  chat: (text: string, model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: { model, stream, messages: [{ role: 'user', content: text }] },
  }),
  responses: (text: string, model: string, stream: boolean) => ({
    path: '/v1/responses',
    body: { model, stream, input: text, store: false },
  }),
  messages: (text: string, model: string, stream: boolean) => ({
    path: '/v1/messages',
    body: { model, stream, max_tokens: 100, messages: [{ role: 'user', content: text }] },
  }),
  'generate-content': (text: string, model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
  }),
};
type Family = keyof typeof requests;

/** The strings of a body, in order, as one; the pieces of a stream are joined. */
function said(body: string | null): string {
  const texts: string[] = [];
  const add = (text: string) =>
    JSON.parse(text, (_, value) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
  const data = [...(body ?? '').matchAll(/^data: (\{.*)$/gm)];
  for (const [, text = ''] of data) add(text);
  if (data.length === 0) add(body ?? '');
  // Types, ids and such are between the pieces, so these are also joined by themselves.
  const byKey = new Map<string, string>();
  for (const [, text = ''] of data) {
    JSON.parse(text, (key, value) => {
      if (typeof value === 'string') byKey.set(key, (byKey.get(key) ?? '') + value);
      return value;
    });
  }
  return [...texts, ...byKey.values()].join('\n');
}
const families = Object.keys(requests) as Family[];

describe.each(['node', 'web'] as const)('the content of calls over the %s lane', (lane) => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack(lane);
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const operator = { kind: 'operator', name: 'test', address: null } as const;
  const operate = <F extends Fields, Out, R extends Reach>(
    operation: Mutation<F, Out, R>,
    { workspace, ...input }: { workspace: string } & Record<string, unknown>,
    actor: Parameters<typeof askOperation>[2]['actor'] = operator,
  ) => {
    const sealingKey = Buffer.from(secrets.ENCRYPTION_KEY, 'hex');
    return askOperation({ ...controlHost(stack.db), sealingKey }, operation, { actor, workspace, input });
  };
  const show = (workspace: string, id: string) => operate(showContent, { workspace, id });

  async function open(settings: Record<string, unknown> = { content: 'all' }) {
    const { id, slug } = await stack.workspace(settings);
    const { key, id: keyId } = await stack.key(slug);
    return { id, slug, key, keyId };
  }

  async function call(
    key: string,
    {
      family = 'chat' as Family,
      model = 'sandbox/echo',
      stream = false,
      text = 'Say hello',
      headers = {},
    } = {},
  ): Promise<{ id: string; body: string; answer: Wire }> {
    const { path, body } = requests[family](text, model, stream);
    const sent = JSON.stringify(body);
    const auth = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
    const answer = await ask(stack.url, 'POST', path, auth, sent);
    return { id: headerOf(answer, 'x-request-id') ?? '', body: sent, answer };
  }

  /** Waits for the row of a call, and for its content. */
  const kept = async (slug: string, id: string) => {
    await stack.call(id);
    await eventually(async () => (await findCall(stack.db, id))?.contentUntil !== null, true);
    return show(slug, id);
  };
  const rowsOf = async (workspaceId: string) =>
    Number(
      (await stack.db.pool.query('SELECT count(*) FROM call_content WHERE workspace_id = $1', [workspaceId]))
        .rows[0].count,
    );

  const shapes = families.flatMap((family) =>
    families.flatMap((target) => [false, true].map((stream) => ({ family, target, stream }))),
  );
  it.each(shapes)(
    'is what the client sent and got: $family of a model that speaks $target, streamed: $stream (contract: content/what)',
    async ({ family, target, stream }) => {
      const { slug, key } = await open();
      const text = `Say ${randomUUID()}`;
      const model = family === target ? 'sandbox/echo' : `sandbox/only-${target}`;
      const sent = await call(key, { family, model, stream, text });
      expect(sent.answer.status, sent.answer.body.toString()).toBe(200);
      const content = await kept(slug, sent.id);
      expect(content.request).toMatchObject({ text: sent.body, cut: false, contentType: 'application/json' });
      expect(content.answer.text).toBe(sent.answer.body.toString());
      expect(content.answer.contentType).toBe(headerOf(sent.answer, 'content-type'));
    },
  );

  it('is not kept unless a workspace wants it, and nothing of it is in the database (contract: content/off)', async () => {
    const { id, key } = await open({});
    const canary = `canary-${randomUUID()}`;
    const sent = await call(key, { text: `Say ${canary}` });
    expect((await stack.call(sent.id)).contentUntil).toBeNull();
    expect(await rowsOf(id)).toBe(0);
    const { rows } = await stack.db.pool.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    for (const { name } of rows) {
      const found = await stack.db.pool.query(`SELECT 1 FROM "${name}" t WHERE t::text LIKE $1 LIMIT 1`, [
        `%${canary}%`,
      ]);
      expect([name, found.rowCount]).toEqual([name, 0]);
    }
    expect(await stack.log()).not.toContain(canary);
  });

  it('is kept of failed calls alone if the workspace says so (contract: content/which)', async () => {
    const { id, slug, key } = await open({ content: 'errors' });
    await call(key);
    const failed = await call(key, { text: 'Say hello [[fault/status-500]]' });
    expect(failed.answer.status).toBeGreaterThanOrEqual(500);
    expect((await kept(slug, failed.id)).answer.text).toContain('error');
    expect(await rowsOf(id)).toBe(1);
  });

  it('follows the key before the workspace, and the header before both (contract: content/which)', async () => {
    const { id, slug, key, keyId } = await open();
    await setKey(stack.db, { workspace: slug, id: keyId, content: 'off' });
    await stack.announce();
    const off = await call(key);
    await setKey(stack.db, { workspace: slug, id: keyId, content: 'inherit' });
    await stack.announce();
    const out = await call(key, { headers: { 'x-gateway-content': 'off' } });
    const last = await call(key);
    await kept(slug, last.id);
    expect(await rowsOf(id)).toBe(1);
    for (const { id: other } of [off, out]) await expect(show(slug, other)).rejects.toThrow(/was kept/);
    expect((await stack.sandbox.seen('x-gateway-content')).length).toBe(0);
  });

  it('is read by members with the permission, and each reading is in the audit log (contract: content/reading)', async () => {
    const { id: workspaceId, slug, key } = await open();
    const { id } = await call(key);
    await kept(slug, id);
    const as = async (role: string) => {
      const email = `${randomUUID()}@example.com`;
      const { id: userId } = await createUser(stack.db, { email, password: 'a long password' });
      await addMember(stack.db, { workspace: slug, email, role });
      return { kind: 'user', userId, operator: false, address: null } as const;
    };
    const developer = await as('developer');
    await expect(operate(showContent, { workspace: slug, id }, await as('viewer'))).rejects.toThrow(/role/);
    expect((await operate(showContent, { workspace: slug, id }, developer)).answer.text).toContain('hello');
    await expect(operate(deleteContent, { workspace: slug, call: id }, developer)).rejects.toThrow(/role/);
    const { rows } = await stack.db.pool.query(
      `SELECT actor, subject FROM audit WHERE workspace_id = $1 AND action = 'content.show' ORDER BY id`,
      [workspaceId],
    );
    expect(rows.map(({ subject }) => subject)).toEqual([id, id]);
    expect(rows[1].actor).toContain(developer.userId);
  });

  it('is exported page by page, in the audit log once (contract: content/export)', async () => {
    const { id: workspaceId, slug, key } = await open();
    const marks = Array.from({ length: 3 }, (_, at) => `Say mark-${at}`);
    const ids: string[] = [];
    for (const [at, text] of marks.entries()) {
      const family = families[at] ?? 'chat';
      ids.push((await call(key, { family, text, stream: at === 1 })).id);
    }
    for (const id of ids) await kept(slug, id);
    const take = (input: Record<string, unknown>, actor?: Parameters<typeof operate>[2]) =>
      operate(exportContent, { workspace: slug, ...input }, actor);
    const all = await take({});
    expect(all.next).toBeNull();
    const texts = all.lines.map((line) => JSON.parse(line).messages);
    expect(texts.map((messages) => JSON.stringify(messages[0].content))).toEqual(
      marks.toReversed().map((text) => expect.stringContaining(text)),
    );
    for (const [at, messages] of texts.entries()) {
      expect(messages.at(-1)).toMatchObject({
        role: 'assistant',
        content: expect.stringContaining(`mark-${2 - at}`),
      });
    }
    expect((await take({ model: 'sandbox/mini' })).lines).toEqual([]);
    // A cursor that no export returned, or that another one did, opens nothing.
    for (const after of [ids[0], 's1.AAAA']) await expect(take({ after })).rejects.toThrow(/begin again/);
    const { rows } = await stack.db.pool.query(
      `SELECT after FROM audit WHERE workspace_id = $1 AND action = 'content.export'`,
      [workspaceId],
    );
    expect(rows).toHaveLength(2);
    await operate(deleteContent, { workspace: slug });
    expect((await take({})).lines).toEqual([]);
  });

  it('is searched for a text in any protocol, in pieces or not, with one row in the audit log (contract: content/search)', async () => {
    const { id: workspaceId, slug, key } = await open();
    const ids: string[] = [];
    for (const family of families) {
      for (const stream of [false, true])
        ids.push((await call(key, { family, stream, text: `Say Mark-of-${family} “twice”` })).id);
    }
    for (const id of ids) await kept(slug, id);
    const find = (input: Record<string, unknown>, actor?: Parameters<typeof operate>[2]) =>
      operate(searchContent, { workspace: slug, ...input }, actor);
    const all = await find({ text: 'MARK-OF-' });
    expect(all).toMatchObject({ read: ids.length, unreadable: 0, next: null });
    expect(all.data.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(all.data[0]).toMatchObject({ side: 'request', match: 'Mark-of-', requestedModel: 'sandbox/echo' });
    const one = await find({ text: 'mark-of-messages “twice”' });
    expect(one.data.map(({ id }) => id).sort()).toEqual(ids.slice(4, 6).sort());
    expect((await find({ text: 'mark-of-', model: 'sandbox/mini' })).data).toEqual([]);
    const elsewhere = await open();
    expect(await find({ workspace: elsewhere.slug, text: 'mark-of-' })).toMatchObject({ data: [], read: 0 });
    for (const after of [ids[0], 's1.AAAA'])
      await expect(find({ text: 'mark-of-', after })).rejects.toThrow(/begin again/);
    const { rows } = await stack.db.pool.query<{ row: string }>(
      `SELECT a::text AS row FROM audit a WHERE workspace_id = $1 AND action = 'content.search'`,
      [workspaceId],
    );
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows).toLowerCase()).not.toContain('mark-of');
    await operate(deleteContent, { workspace: slug });
    expect((await find({ text: 'mark-of-' })).data).toEqual([]);
  });

  it('is searched page by page, each page bound to its search (contract: content/search)', async () => {
    const { slug, key } = await open();
    const sent = await Promise.all(
      Array.from({ length: 53 }, (_, at) => call(key, { text: `Say mark-${at}.` })),
    );
    for (const { id } of sent) await kept(slug, id);
    const find = (input: Record<string, unknown>) => operate(searchContent, { workspace: slug, ...input });
    const first = await find({ text: 'mark-' });
    expect(first).toMatchObject({ data: { length: 50 }, read: 50 });
    await expect(find({ text: 'mark', after: first.next })).rejects.toThrow(/begin again/);
    const last = await find({ text: 'mark-', after: first.next });
    expect(last).toMatchObject({ data: { length: 3 }, read: 3, next: null });
    const found = [...first.data, ...last.data].map(({ id }) => id);
    expect(new Set(found)).toEqual(new Set(sent.map(({ id }) => id)));
  });

  it.runIf(lane === 'node')(
    'is printed page after page by the command line (contract: content/export)',
    async () => {
      const { id: workspaceId, slug, key } = await open();
      await Promise.all(Array.from({ length: 53 }, (_, at) => call(key, { text: `Say mark-${at}.` })));
      await eventually(() => rowsOf(workspaceId), 53);
      // Their rows in the log may come later than their content.
      const logged = async () =>
        (await stack.db.pool.query('SELECT 1 FROM call WHERE workspace_id = $1', [workspaceId])).rowCount;
      await eventually(logged, 53);
      const first = await operate(exportContent, { workspace: slug });
      expect(first.lines).toHaveLength(50);
      const other = await operate(exportContent, { workspace: slug, status: '2xx' });
      // The cursor of another export.
      await expect(operate(exportContent, { workspace: slug, after: other.next })).rejects.toThrow(
        /begin again/,
      );
      const next = { workspace: slug, after: first.next };
      expect(await operate(exportContent, next)).toMatchObject({ lines: { length: 3 }, next: null });
      const line = commandLine(stack.databaseUrl);
      try {
        const { out, exit, err } = await line.spawn('content', 'export', '--workspace', slug);
        expect([exit, err]).toEqual([0, '']);
        const marks = out
          .trimEnd()
          .split('\n')
          .map((text) => /mark-\d+/.exec(JSON.stringify(JSON.parse(text)))?.[0]);
        expect(new Set(marks).size).toBe(53);
      } finally {
        line.close();
      }
    },
  );

  it('of another workspace is not found', async () => {
    const [mine, theirs] = [await open(), await open()];
    const { id } = await call(theirs.key);
    await kept(theirs.slug, id);
    await expect(show(mine.slug, id)).rejects.toThrow(/there is no call/);
    await expect(operate(deleteContent, { workspace: mine.slug, call: id })).rejects.toThrow(
      /there is no call/,
    );
    await expect(operate(deleteContent, { workspace: mine.slug, key: theirs.keyId })).rejects.toThrow(
      /no key/,
    );
    expect(await rowsOf(theirs.id)).toBe(1);
  });

  it.each(['call', 'key', 'workspace'] as const)(
    'of a %s can be deleted: it is unreadable at once and gone with the next round (contract: content/lifetime)',
    async (of) => {
      const { id: workspaceId, slug, key, keyId } = await open();
      const { id } = await call(key);
      await kept(slug, id);
      await operate(deleteContent, {
        workspace: slug,
        ...(of === 'call' ? { call: id } : of === 'key' ? { key: keyId } : {}),
      });
      await expect(show(slug, id)).rejects.toThrow(/was kept/);
      expect((await stack.call(id)).contentUntil).toBeNull();
      await dropPartitions(stack.db.pool, Date.now(), 90);
      expect(await rowsOf(workspaceId)).toBe(0);
      const later = await call(key);
      expect((await kept(slug, later.id)).answer.text).toContain('hello');
    },
  );

  it('goes when its time is over, and with its workspace (contract: content/lifetime)', async () => {
    const { id: workspaceId, slug, key } = await open({ content: 'all', contentDays: 1 });
    const { id } = await call(key);
    const { keepUntil } = await kept(slug, id);
    const hours = (Date.parse(keepUntil) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    await stack.db.pool.query(
      `UPDATE call_content SET keep_until = now() - interval '1 second' WHERE call_id = $1`,
      [id],
    );
    await expect(show(slug, id)).rejects.toThrow(/was kept/);
    await dropPartitions(stack.db.pool, Date.now(), 90);
    expect(await rowsOf(workspaceId)).toBe(0);
    await kept(slug, (await call(key)).id);
    await operate(deleteWorkspace, { workspace: slug, confirm: slug });
    await dropPartitions(stack.db.pool, Date.now(), 90);
    expect(await rowsOf(workspaceId)).toBe(0);
  });

  it('sealed, it shows nothing of a prompt in the table (contract: content/sealed)', async () => {
    const { slug, key } = await open();
    const canary = `canary-${randomUUID()}`;
    const { id } = await call(key, { text: `Say ${canary}` });
    expect((await kept(slug, id)).answer.text).toContain(canary);
    const { rows } = await stack.db.pool.query<{ sealed: Buffer }>(
      'SELECT sealed FROM call_content WHERE call_id = $1',
      [id],
    );
    expect(rows[0]?.sealed.includes(canary)).toBe(false);
  });

  it.each(families.flatMap((family) => families.map((target) => ({ family, target }))))(
    'has ten canaries of each pattern masked in requests and answers, streamed and whole: $family of a model that speaks $target (contract: content/masks)',
    async ({ family, target }) => {
      const { slug, key } = await open({
        content: 'all',
        maskKeys: true,
        maskMail: true,
        maskCards: true,
        maskPhones: true,
        maskPatterns: 'staff number: EMP-[0-9]{6}',
      });
      const model = family === target ? 'sandbox/echo' : `sandbox/only-${target}`;
      const staff = Array.from({ length: 10 }, (_, at) => `EMP-12345${at}`);
      for (const [kind, secrets] of Object.entries({ ...canaries, staff })) {
        for (const stream of [false, true]) {
          const text = `Say ${secrets.map((secret) => `"${secret}"`).join(' and ')} now`;
          const sent = await call(key, { family, model, stream, text });
          expect(sent.answer.status, sent.answer.body.toString()).toBe(200);
          const { request, answer } = await kept(slug, sent.id);
          const isFound = secrets.map((secret) => [
            secret,
            said(request.text).includes(secret),
            said(answer.text).includes(secret),
          ]);
          expect([kind, stream, isFound]).toEqual([
            kind,
            stream,
            secrets.map((secret) => [secret, false, false]),
          ]);
          // The client and the model got everything.
          for (const secret of secrets) expect(said(sent.answer.body.toString())).toContain(secret);
          expect(said(answer.text)).toContain('[masked: ');
          expect(said(answer.text)).toMatch(/ and /);
        }
      }
    },
  );

  it('is masked by patterns that can be read and end, and no others (contract: content/masks)', async () => {
    const { id: workspaceId, slug } = await open();
    for (const [maskPatterns, message] of [
      ['no name', /line 1 must be "name: pattern"/],
      ['evil: (a+)+\\1', /RE2/],
      ['empty: a*', /matches empty text/],
      ['large: (?:[a-z]{1,9}x){60}', /too large/],
      [Array.from({ length: 11 }, (_, at) => `p${at}: x`).join('\n'), /at most 10/],
    ] as const) {
      await expect(setWorkspace(stack.db, { workspace: slug, maskPatterns })).rejects.toThrow(message);
    }
    await setWorkspace(stack.db, {
      workspace: slug,
      maskPatterns: 'staff: EMP-[0-9]+\nhost: db[0-9]\\.internal',
    });
    const { rows } = await stack.db.pool.query(
      `SELECT after FROM audit WHERE workspace_id = $1 AND action = 'workspace.set' ORDER BY id DESC LIMIT 1`,
      [workspaceId],
    );
    expect(JSON.stringify(rows[0].after)).toContain('EMP-[0-9]+');
  });

  it('is refused for a share or a number of days that cannot be', async () => {
    const { slug } = await open();
    for (const bad of [
      { contentShare: 0 },
      { contentShare: 101 },
      { contentDays: 91 },
      { content: 'some' },
    ]) {
      await expect(setWorkspace(stack.db, { workspace: slug, ...bad })).rejects.toThrow(/must be/);
    }
  });
});
