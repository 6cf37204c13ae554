import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { operations } from '#lib/control/operations/operations';
import { runAny } from '#lib/control/operations/run';
import { controlHost, createKey, createWorkspace, setKey } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const lists = operations.filter(({ kind, fields }) => kind === 'read' && 'after' in fields);
/** What lists need beside the place to go on from. */
const others: Readonly<Record<string, object>> = { 'webhook.deliveries': { id: randomUUID() } };
const actor = { kind: 'operator', name: 'test', address: null } as const;

interface Page {
  readonly data: readonly { readonly id?: string }[];
  readonly next: string | null;
}

async function page(name: string, workspace: string, input: object): Promise<Page> {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(name);
  const { output } = await runAny(controlHost(db), operation, { actor, workspace, input });
  return output as Page;
}

/** A workspace with three keys, and rows in its audit trail. */
async function place(): Promise<string> {
  const { slug } = await createWorkspace(db, { name: 'Cursors' });
  for (const name of ['a', 'b', 'c']) {
    const { id } = await createKey(db, { workspace: slug, name });
    await setKey(db, { id, rpm: 5 });
  }
  return slug;
}

describe('the "next" of a list', () => {
  it.each(lists.filter(({ name }) => name !== 'model.list'))(
    'of $name is one that a page gave, or refused (contract: control-plane/lists)',
    async ({ name }) => {
      const slug = await place();
      for (const after of ['x', '0', '-1', '1.2', `1.${'g'.repeat(36)}`, '9'.repeat(300)]) {
        await expect(page(name, slug, { ...others[name], after }), after).rejects.toMatchObject({
          code: 'invalid_body',
          field: 'after',
        });
      }
    },
  );

  it.each(['key.list', 'audit.list'])(
    'of %s tells nothing of the rows of another workspace',
    async (name) => {
      const [own, other] = [await place(), await place()];
      const theirs = await page(name, other, { limit: 1 });
      const row = theirs.data[0]?.id ?? '';
      const by = async (id: string) =>
        page(name, own, { after: (theirs.next ?? '').replace(/[0-9a-f-]{36}$/, id) }).then(
          ({ data }) => data.map((one) => one.id),
          (error: Error) => error.message,
        );
      expect(await by(row)).toEqual(await by(randomUUID().replace(/^.{8}/, row.slice(0, 8))));
      const all = (await page(name, own, {})).data.map(({ id }) => id);
      const seen: (string | undefined)[] = [];
      for (let after: object | null = {}; after !== null; ) {
        const next: Page = await page(name, own, { ...after, limit: 2 });
        seen.push(...next.data.map(({ id }) => id));
        after = next.next === null ? null : { after: next.next };
      }
      expect(seen).toEqual(all);
    },
  );
});
