import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operate, setWorkspace } from '#tests/support/control/operate';
import setUpDatabases from '#tests/support/database';
import { eventually } from '#tests/support/eventually';
import { type ObjectStoreProcess, startObjectStore } from '#tests/support/object-store/object-store';
import { type OwnStack, secrets, startStack } from '#tests/support/stack';

/** Moves the clock of the processes that load it. */
const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The longest jump: a clock that leaps by more than a day is not believed at once. */
const jumpMs = 12 * hourMs;

const places = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' };
type Family = keyof typeof places | 'generate-content';
const families: readonly Family[] = ['chat', 'responses', 'messages', 'generate-content'];

describe.skipIf(!existsSync(faketime))(
  'kept content, with a clock that moves (contract: content/lifetime)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-clock-'));
    const file = join(folder, 'offset');
    const startMs = Date.now();
    let aheadMs = 0;
    const now = () => Date.now() + aheadMs;
    const setClock = () => writeFileSync(file, `+${aheadMs / 1000}`);

    let stack: OwnStack;
    let store: ObjectStoreProcess;
    let endDatabases: () => Promise<void>;
    /** Of this process, which runs other specs too. */
    const given = { ...process.env };
    beforeAll(async () => {
      chmodSync(folder, 0o755);
      setClock();
      const clock = { FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', LD_PRELOAD: faketime };
      delete process.env.TEST_DATABASE_URL;
      delete process.env.TEST_DATABASE_STRATEGY;
      Object.assign(process.env, clock, { DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' });
      const setUp = setUpDatabases();
      const opened = startObjectStore();
      // Both have started their processes.
      for (const name of ['LD_PRELOAD', 'DONT_FAKE_MONOTONIC', 'FAKETIME_DONT_FAKE_MONOTONIC'])
        delete process.env[name];
      [endDatabases, store] = await Promise.all([setUp, opened]);
      stack = await startStack({ env: { ...store.env, ...clock } });
      Object.assign(process.env, given);
    });
    afterAll(async () => {
      await stack.close();
      store.close();
      await endDatabases();
      // Ending its databases has deleted them.
      Object.assign(process.env, given);
      rmSync(folder, { recursive: true, force: true });
    });

    /** When retention last looked at the clock, ms since the epoch. */
    async function seenMs(): Promise<number> {
      const { rows } = await stack.db.pool.query<{ at: Date }>('SELECT at FROM seen_time');
      return rows[0]?.at.getTime() ?? 0;
    }

    /** Whether the gateway asks its database nothing: a leap of the clock would look to it like a time-out. */
    async function isQuiet(): Promise<boolean> {
      const { rowCount } = await stack.db.pool.query(
        `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
         AND (state <> 'idle' OR state_change > clock_timestamp() - interval '200 ms')`,
      );
      return rowCount === 0;
    }

    /** Moves the clock of the gateway, its database and its store to so long after the start. */
    async function moveTo(sinceMs: number): Promise<void> {
      const untilMs = startMs + sinceMs;
      while (now() < untilMs) {
        aheadMs += Math.min(jumpMs, untilMs - now());
        setClock();
        // It has seen that its clock moved, and serves.
        const answers = () =>
          fetch(`${stack.url}/api/health`, { headers: { connection: 'close' } }).then(
            ({ ok }) => ok,
            () => false,
          );
        await eventually(answers, true);
        // Retention has too, if its time has come, and its round has ended.
        await eventually(async () => now() - (await seenMs()) < 21 * minuteMs, true);
        await eventually(isQuiet, true);
      }
    }

    async function open(settings: Record<string, unknown>) {
      const { id, slug } = await stack.workspace({ content: 'all', ...settings });
      const { key } = await stack.key(slug);
      const { key: token } = await operate(
        stack.db,
        createManagementKey,
        { workspace: slug, name: 'reader', role: 'owner' },
        secrets.KEY_PEPPER,
      );
      return { id, slug, key, token };
    }
    type Own = Awaited<ReturnType<typeof open>>;

    /** Makes a call, and waits until its content is kept. */
    async function call(own: Own, family: Family, stream = false): Promise<string> {
      const model = 'sandbox/echo';
      const messages = [{ role: 'user', content: 'Say hello' }];
      const bodies = {
        chat: { model, stream, messages },
        responses: { model, stream, input: 'Say hello', store: false },
        messages: { model, stream, max_tokens: 50, messages },
        'generate-content': { contents: [{ role: 'user', parts: [{ text: 'Say hello' }] }] },
      };
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const path = family === 'generate-content' ? `/v1beta/models/${model}:${method}` : places[family];
      const answer = await fetch(`${stack.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${own.key}`,
          connection: 'close',
          'content-type': 'application/json',
        },
        body: JSON.stringify(bodies[family]),
      });
      expect(answer.status, await answer.text()).toBe(200);
      const id = answer.headers.get('x-request-id') ?? '';
      await eventually(() => read(own, id), 200);
      return id;
    }

    /** The status of reading the content of a call over the management API. */
    async function read({ slug, token }: Own, id: string): Promise<number> {
      const { status } = await fetch(`${stack.url}/api/v1/workspaces/${slug}/calls/${id}/content`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, connection: 'close' },
      });
      return status;
    }
    const allOf = (status: number) => new Set([status]);
    const readAll = async (own: Own, ids: readonly string[]) =>
      new Set(await Promise.all(ids.map((id) => read(own, id))));

    /** Which of these calls have a row of content, and which an object. */
    async function left(ids: readonly string[]): Promise<{ rows: number; objects: number }> {
      const { rows } = await stack.db.pool.query(
        'SELECT count(*)::int AS count FROM call_content WHERE call_id = ANY ($1::uuid[])',
        [ids],
      );
      const names = [...(await store.objects()).keys()];
      return {
        rows: rows[0].count,
        objects: names.filter((name) => ids.some((id) => name.endsWith(`/${id}`))).length,
      };
    }

    it('ends to the second for reading and within the hour for rows and objects, also if its workspace shortened it', async () => {
      const day = await open({ contentDays: 1 });
      const shortened = await open({ contentDays: 90 });
      const lasting = await open({ contentDays: 2 });
      const ending: string[] = [];
      for (const family of families) {
        for (const stream of [false, true]) ending.push(await call(day, family, stream));
      }
      const shorter = [await call(shortened, 'chat')];
      const endMs = now() - startMs + dayMs;
      const staying = [await call(lasting, 'chat')];
      await moveTo(6 * hourMs);
      const later = [await call(day, 'messages'), await call(day, 'chat', true)];
      await setWorkspace(stack.db, { workspace: shortened.slug, contentDays: 1 });

      await moveTo(dayMs - minuteMs);
      expect([await readAll(day, ending), await readAll(shortened, shorter)]).toEqual([
        allOf(200),
        allOf(200),
      ]);
      await moveTo(endMs);
      expect([await readAll(day, ending), await readAll(shortened, shorter)]).toEqual([
        allOf(404),
        allOf(404),
      ]);
      expect([await readAll(day, later), await readAll(lasting, staying)]).toEqual([allOf(200), allOf(200)]);

      const over = [...ending, ...shorter];
      for (let minutes = 10; minutes < 60; minutes += 10) await moveTo(endMs + minutes * minuteMs);
      await eventually(async () => (await left(over)).rows, 0);
      await moveTo(endMs + 59 * minuteMs);
      await eventually(() => left(over), { rows: 0, objects: 0 });
      expect(await left([...later, ...staying])).toEqual({ rows: 3, objects: 3 });
      expect([await readAll(day, later), await readAll(lasting, staying)]).toEqual([allOf(200), allOf(200)]);
    });
  },
);
