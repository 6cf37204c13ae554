import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { operations } from '#lib/control/operations/operations';
import { runAny } from '#lib/control/operations/run';
import { endUserName, tagIdOf } from '#lib/core/facts/tags';
import { newRowId } from '#lib/platform/data/row-id';
import { addCredit, controlHost, createKey, createWorkspace, setKey } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const lists = operations.filter(({ kind, fields }) => kind === 'read' && 'after' in fields);
/** Every order that a list can be asked for, with its reverse. */
const orders = lists.flatMap(({ name, fields }) =>
  (['sort', 'order'] as const).flatMap((field) => {
    const words = fields[field]?.choices ?? [];
    return words.map((word, at) => ({
      name,
      field,
      word,
      other: words[at % 2 === 0 ? at + 1 : at - 1] ?? '',
    }));
  }),
);

/** What lists need beside the place to go on from. */
const others = (name: string, slug: string): object =>
  name === 'webhook.deliveries' ? { id: webhooks.get(slug) } : {};
/** The webhook of a workspace, by slug. */
const webhooks = new Map<string, string>();
const actor = { kind: 'operator', name: 'test', address: null } as const;

interface Page {
  /** Rows of usage have no id, but their value. */
  readonly data: readonly { readonly id?: string; readonly value?: string }[];
  readonly next: string | null;
}

async function page(name: string, workspace: string, input: object): Promise<Page> {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(name);
  const { output } = await runAny(controlHost(db), operation, { actor, workspace, input });
  const { data, next } = output as Page;
  return { data: data.map(({ id, value }) => ({ id: id ?? value ?? '' })), next };
}

/** A workspace with three keys, lines in its ledger, top-ups, deliveries, end users with a budget, and an audit trail. */
async function place(): Promise<string> {
  const { id: workspaceId, slug } = await createWorkspace(db, { name: 'Cursors' });
  const webhook = newRowId();
  const secret = 'sealed';
  await db.prisma.webhook.create({ data: { id: webhook, workspaceId, url: 'https://a.example', secret } });
  webhooks.set(slug, webhook);
  for (const figure of [500, 700, 500]) {
    const own = () => ({ id: newRowId(), workspaceId });
    await db.prisma.topUp.create({ data: { ...own(), cents: figure, feeCents: 0, livemode: false } });
    const delivery = { ...own(), webhookId: webhook, event: 'test', body: '{}', tries: figure };
    await db.prisma.webhookDelivery.create({ data: delivery });
  }
  for (const [at, value] of ['u1', 'u2', 'u3'].entries()) {
    const tag = { name: endUserName, value };
    const id = tagIdOf(workspaceId, tag);
    const figures = { calls: 1 + (at % 2), costNano: BigInt(5 + (at % 2)) };
    await db.prisma.tag.create({ data: { id, workspaceId, ...tag } });
    await db.prisma.tagQuarter.create({ data: { tagId: id, quarter: new Date(), workspaceId, ...figures } });
    const budget = { dailyCapNano: BigInt(1 + (at % 2)), d7CapNano: 5n };
    await db.prisma.tagBudget.create({ data: { id: newRowId(), workspaceId, ...tag, ...budget } });
  }
  for (const name of ['a', 'b', 'c']) {
    const { id } = await createKey(db, { workspace: slug, name });
    await setKey(db, { id, rpm: 5 });
    await addCredit(db, { workspace: slug, amount: String(name.charCodeAt(0)), reason: name });
  }
  return slug;
}

describe('the "next" of a list', () => {
  it.each(lists.filter(({ name }) => name !== 'model.list'))(
    'of $name is one that a page gave, or refused (contract: control-plane/lists)',
    async ({ name }) => {
      const slug = await place();
      for (const after of ['x', '0', '-1', '1.2', `1.${'g'.repeat(36)}`, '9'.repeat(300)]) {
        await expect(page(name, slug, { ...others(name, slug), after }), after).rejects.toMatchObject({
          code: 'invalid_body',
          field: 'after',
        });
      }
    },
  );

  it.each(orders)(
    'in the order $word of $name gives each row once (contract: control-plane/sorting)',
    async (order) => {
      const { name, field, word, other } = order;
      await place();
      const slug = await place();
      const asked = { ...others(name, slug), [field]: word };
      const all = (await page(name, slug, { ...asked, limit: 500 })).data.map(({ id }) => id);
      const seen: (string | undefined)[] = [];
      for (let after: string | undefined, more = true; more; ) {
        const { data, next }: Page = await page(name, slug, { ...asked, after, limit: 2 });
        seen.push(...data.map(({ id }) => id));
        more = next !== null;
        after = next ?? undefined;
      }
      expect(seen).toEqual(all);
      const wrong = ['', 'x', `${word}.AA.${randomUUID()}`, `${other}.MQ.${randomUUID()}`];
      for (const after of field === 'sort' ? wrong : []) {
        const refused = page(name, slug, { ...asked, after });
        await expect(refused, after).rejects.toMatchObject({ code: 'invalid_body', field: 'after' });
      }
      const back = await page(name, slug, { ...asked, [field]: other, limit: 500 });
      expect(back.data.map(({ id }) => id)).toEqual(all.toReversed());
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
