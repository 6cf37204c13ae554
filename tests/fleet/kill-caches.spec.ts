import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, tell } from '#tests/gateway/resources/possessions';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { eventually } from '#tests/support/eventually';
import { tellFigures } from '#tests/support/fleet/round';
import { type OwnStack, startStack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

const model = 'models/sandbox/priced-cache';
/** Nano-dollars a token: input, and an hour of storage. */
const [input, storage] = [2_000, 1_000];
const hourMs = 3_600_000;

/** Where the gateway is killed, in the order in which a request passes. */
const points = ['provider asked', 'provider done', 'id committed', 'answered', 'posted'] as const;
type Point = (typeof points)[number];

/** A context cache as its workspace sees it. */
interface Cache {
  readonly name: string;
  readonly tokens: number;
  readonly endMs: number;
}

describe.each(['journal', 'database'] as const)(
  'context caches over kills, settled by the %s (contract: batches/cache-charge)',
  (settlement) => {
    // Without a journal, each of the others takes 10 s, and shows nothing more.
    const reached: readonly Point[] = settlement === 'journal' ? points : ['id committed'];
    let stack: OwnStack;
    let own: Asker;
    let workspaceId: string;
    let awaited: { readonly text: string; readonly reached: () => void } | null = null;
    const watchDatabase = () => (bytes: Buffer) => {
      if (!awaited || !bytes.includes(awaited.text)) return;
      const { reached } = awaited;
      awaited = null;
      reached();
    };
    beforeAll(async () => {
      const env = settlement === 'database' ? { env: { SETTLEMENT: 'database' } } : {};
      stack = await startStack({ watchDatabase, ...env });
      const { id, slug } = await stack.workspace({ rpm: 10_000 });
      workspaceId = id;
      own = { url: stack.url, key: (await stack.key(slug)).key };
    });
    afterAll(() => stack.close());

    /** The database gets a COMMIT behind this statement, and nothing that follows. */
    async function frozenAfter(text: string): Promise<void> {
      for (const one of [text, 'COMMIT']) {
        await new Promise<void>((reached) => {
          awaited = { text: one, reached };
        });
      }
      await new Promise(setImmediate);
      stack.databaseProxy.freeze();
    }

    /** Charges of the workspace that are more than nothing, nano-dollars, the newest last. */
    async function charges(): Promise<number[]> {
      const { rows } = await stack.db.pool.query<{ cost: string }>(
        'SELECT cost_nano::text AS cost FROM call WHERE workspace_id = $1 AND cost_nano > 0 ORDER BY id',
        [workspaceId],
      );
      return rows.map(({ cost }) => Number(cost));
    }

    const opens = async () => (await stack.db.pool.query('SELECT 1 FROM open_call')).rowCount;

    /** The cache of this name in the list of the workspace; null: there is none. */
    async function find(displayName: string): Promise<Cache | null> {
      const { body } = await tell(own, 'GET', '/v1beta/cachedContents?pageSize=1000');
      const one = [body.cachedContents ?? []]
        .flat()
        .map(record)
        .find((listed) => listed.displayName === displayName);
      if (!one) return null;
      return {
        name: String(one.name),
        tokens: Number(record(one.usageMetadata).totalTokenCount),
        endMs: Date.parse(String(one.expireTime)),
      };
    }

    /** Kills the gateway when the request has reached the point, and starts it again. @returns whether it was answered. */
    async function killAt(
      point: Point,
      mark: string,
      request: () => ReturnType<typeof tell>,
    ): Promise<boolean> {
      const before = (await charges()).length;
      const frozen = point === 'id committed' ? frozenAfter('INSERT INTO resource') : null;
      const answer = request().catch(() => null);
      if (point === 'provider asked') await stack.sandbox.begun(mark);
      else if (point === 'provider done') await stack.sandbox.ended((await stack.sandbox.begun(mark)).id);
      else if (point === 'id committed') await frozen;
      else await answer;
      if (point === 'posted') await eventually(async () => (await charges()).length, before + 1);
      await stack.kill('SIGKILL');
      awaited = null;
      stack.databaseProxy.restore();
      await stack.start();
      // Its running call is over when nothing was heard of it for 45 s.
      await stack.db.pool.query(`UPDATE open_call SET expires_at = now() - interval '1 second'`);
      await eventually(opens, 0);
      return (await answer)?.status === 200;
    }

    const create = (displayName: string) => {
      const parts = [{ text: `Words to keep: ${'and more '.repeat(400)}` }];
      const body = { model, displayName, ttl: '3600s', contents: [{ role: 'user', parts }] };
      return tell(own, 'POST', '/v1beta/cachedContents', body);
    };

    it.each(reached)(
      'one that is made is charged once if it is owned, and free if it is not: %s',
      async (point) => {
        const mark = `made-${settlement}-${point.replace(' ', '-')}`;
        const before = await charges();
        const answered = await killAt(point, mark, () => create(mark));
        const cache = await find(mark);
        const made = (await charges()).slice(before.length);
        if (answered || point === 'id committed') expect(cache).not.toBeNull();
        expect(made).toEqual(cache === null ? [] : [cache.tokens * (input + storage)]);
        if (cache) expect((await tell(own, 'GET', `/v1beta/${cache.name}`)).status).toBe(200);
        tellFigures('kills while context caches are made', {
          kills: 1,
          owned: cache ? 1 : 0,
          charged: made.length,
        });
      },
    );

    it.each(reached)(
      'one that is to live longer is charged at most once, and always if it was answered: %s',
      async (point) => {
        const name = `kept-${settlement}-${point.replace(' ', '-')}`;
        expect((await create(name)).status).toBe(200);
        await eventually(async () => (await find(name)) !== null, true);
        const first = await find(name);
        if (!first) throw new Error('it was found');
        await eventually(async () => (await charges()).at(-1), first.tokens * (input + storage));
        const before = await charges();
        // A text that no other request has.
        const ttl = `${7_200 + points.indexOf(point) + (settlement === 'journal' ? 0 : 50)}s`;
        const answered = await killAt(point, `"${ttl}"`, () =>
          tell(own, 'PATCH', `/v1beta/${first.name}`, { ttl }),
        );
        const made = (await charges()).slice(before.length);
        // What its provider did is charged if the gateway had the answer.
        const { body } = await tell(own, 'GET', `/v1beta/${first.name}`);
        const hours = (Date.parse(String(body.expireTime)) - first.endMs) / hourMs;
        if (answered || point === 'id committed') expect(made.length).toBe(1);
        expect(made.length).toBeLessThanOrEqual(1);
        if (made.length === 1) {
          expect(hours).toBeGreaterThanOrEqual(1);
          // By the second, in whole tokens kept for an hour.
          const most = (first.tokens * storage) / 3_600 + storage;
          expect(Math.abs((made[0] ?? 0) - hours * first.tokens * storage)).toBeLessThanOrEqual(most);
        }
        tellFigures('kills while context caches are extended', {
          kills: 1,
          extended: hours > 0 ? 1 : 0,
          charged: made.length,
        });
      },
    );

    it('the books balance after all of them', async () => {
      await expectBalancedBooks(stack);
      const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
      expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
      command.close();
    });
  },
);
