import { z } from 'zod';
import { refuseAddress } from '#lib/control/alerts/address';
import { eventBody } from '#lib/control/alerts/events';
import { makeWebhookSecret, webhookContext } from '#lib/control/alerts/sign';
import { type Context, change, create, read } from '#lib/control/operations/declare';
import { id as idField, isUuid, toggle, words } from '#lib/control/operations/field/kinds';
import {
  inOrderOf,
  limitOf,
  type Order,
  pageOf,
  pageOfIds,
  paging,
  sortBy,
  timeOrder,
} from '#lib/control/operations/field/paging';
import { badInput, ControlRefused, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope, within } from '#lib/control/operations/scope';
import { commonKey } from '#lib/control/operations/secret/common-key';
import { newRowId } from '#lib/platform/data/row-id';
import { seal } from '#lib/platform/sealing';

const webhooks = '/workspaces/{workspace}/webhooks';
const mostWebhooks = 100;
/** For events that users request; alerts are always queued. */
const mostWaiting = 20;

const url = words(
  {
    label: 'Address',
    help: 'Where to send events: https, on the public internet.',
    example: 'https://hooks.example.com/gateway',
  },
  1000,
);
const webhookId = idField({ label: 'Webhook', help: 'Its id.' });
const enabled = toggle({ label: 'Enabled', help: 'If off, no events are queued or sent.', example: false });

const shownWebhook = z.object({
  id: z.uuid(),
  url: z.string(),
  enabled: z.boolean(),
  createdAt: z.iso.datetime(),
});

const shownDelivery = z.object({
  id: z.uuid(),
  event: z.string(),
  state: z.enum(['delivered', 'waiting', 'given up']),
  tries: z.int().describe('Number of attempts.'),
  status: z.int().nullable().describe('HTTP status of the last answer; null: no answer.'),
  error: z.string().nullable(),
  createdAt: z.iso.datetime(),
  deliveredAt: z.iso.datetime().nullable(),
  nextTryAt: z.iso.datetime().nullable(),
});

export const createWebhook = create({
  name: 'webhook.create',
  summary:
    'Creates a webhook that sends the alerts of a workspace to an address, signed with a secret that is shown once.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { url },
  output: z.object({
    id: z.uuid(),
    key: z.string().describe('The secret that signs its events. It is shown only once.'),
  }),
  http: [{ method: 'POST', path: webhooks }],
  line: {},
  text: ({ id, key }) => `webhook ${id} created; its secret is shown only once:\n${key}`,
  run: async ({ store, scope, sealingKey }, input) => {
    const refused = await refuseAddress(input.url);
    if (refused !== null) throw badInput('url', refused);
    if (sealingKey === null)
      throw new ControlRefused(
        'conflict',
        'this process has no ENCRYPTION_KEY to seal the secret with; set ENCRYPTION_KEY',
      );
    const { workspaceId } = scope;
    if ((await store.prisma.webhook.count({ where: { workspaceId } })) >= mostWebhooks)
      throw conflict(`a workspace may have at most ${mostWebhooks} webhooks; delete one first`);
    const id = newRowId();
    const key = makeWebhookSecret();
    const secret = seal(key, await commonKey(store, sealingKey), webhookContext(id));
    await store.prisma.webhook.create({ data: { id, workspaceId, url: input.url, secret } });
    const after = { url: input.url, enabled: true };
    return { result: { id, key }, subject: id, before: null, after };
  },
});

export const setWebhook = change({
  name: 'webhook.set',
  summary: 'Switches a webhook on or off.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { id: webhookId, enabled },
  output: shownWebhook,
  http: [{ method: 'PATCH', path: `${webhooks}/{id}` }],
  line: { arguments: ['id'] },
  run: async (context, { id, enabled: wanted }) => {
    const row = await lockWebhook(context, id);
    const before = stateOf(row);
    context.expect(before);
    const changed = await context.store.prisma.webhook.update({ where: { id }, data: { enabled: wanted } });
    return { result: shown(changed), subject: id, before, after: stateOf(changed) };
  },
});

export const deleteWebhook = change({
  name: 'webhook.delete',
  summary: 'Deletes a webhook with its log of deliveries; pending events are not sent any more.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { id: webhookId },
  output: shownWebhook,
  http: [{ method: 'DELETE', path: `${webhooks}/{id}` }],
  line: { arguments: ['id'] },
  run: async (context, { id }) => {
    const row = await lockWebhook(context, id);
    await context.store.prisma.webhook.delete({ where: { id } });
    return { result: shown(row), subject: id, before: stateOf(row), after: null };
  },
});

export const testWebhook = change({
  name: 'webhook.test',
  summary: 'Sends a test event to a webhook.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { id: webhookId },
  output: z.object({ id: z.uuid().describe('Id of the delivery.') }),
  http: [{ method: 'POST', path: `${webhooks}/{id}/test` }],
  line: { arguments: ['id'] },
  run: async (context, { id }) => {
    const { url: to } = await lockWebhook(context, id);
    await refuseBacklog(context, id);
    const { store, scope, nowMs } = context;
    const { workspaceId, slug } = scope;
    const delivery = newRowId();
    const at = new Date(nowMs).toISOString();
    const body = eventBody({ id: delivery, type: 'test', at, workspace: slug, data: {} });
    await store.prisma.webhookDelivery.create({
      data: { id: delivery, webhookId: id, workspaceId, event: 'test', body },
    });
    const after = { url: to, delivery };
    return {
      result: { id: delivery },
      subject: id,
      before: { delivery: null },
      after,
    };
  },
});

export const redeliver = change({
  name: 'webhook.redeliver',
  summary: 'Sends an event again, with attempts for another 24 hours.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: {
    id: webhookId,
    delivery: words(
      { label: 'Delivery', help: 'Its id.', example: '00000000-0000-7000-8000-000000000000' },
      100,
    ),
  },
  output: z.object({ id: z.uuid() }),
  http: [{ method: 'POST', path: `${webhooks}/{id}/deliveries/{delivery}/redeliver` }],
  line: { arguments: ['id', 'delivery'] },
  run: async (context, { id, delivery }) => {
    await lockWebhook(context, id);
    const { store, scope, nowMs } = context;
    const { workspaceId } = scope;
    const where = { id: delivery, webhookId: id, workspaceId };
    const row = isUuid(delivery) ? await store.prisma.webhookDelivery.findFirst({ where }) : null;
    if (row === null)
      throw notFound(
        `there is no delivery ${quoted(delivery)}; "gateway webhook deliveries" lists them`,
        'delivery',
      );
    if (row.nextTryAt === null) await refuseBacklog(context, id);
    const now = new Date(nowMs);
    await store.prisma.webhookDelivery.update({
      where: { id: delivery },
      data: { since: now, nextTryAt: now, tries: 0, deliveredAt: null },
    });
    const before = { delivery, tries: row.tries, again: false };
    const after = { delivery, tries: 0, again: true };
    return { result: { id: delivery }, subject: id, before, after };
  },
});

export const listWebhooks = read({
  name: 'webhook.list',
  summary: 'Lists the webhooks of a workspace.',
  reach: 'workspace',
  permission: 'workspace:read',
  fields: paging,
  output: pageOf(shownWebhook),
  http: [{ method: 'GET', path: webhooks }],
  line: {},
  run: async ({ store, scope }, input) => {
    const { after } = input;
    if (after !== undefined && !isUuid(after))
      throw badInput('after', 'this is not the "next" of a page of webhooks');
    const limit = limitOf(input);
    const rows = await store.prisma.webhook.findMany({
      where: { ...inScope(scope), ...(after === undefined ? {} : { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    });
    const data = rows.slice(0, limit).map(shown);
    return { data, next: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
});

const deliveryOrders = {
  queued: timeOrder('d.created_at'),
  event: { sql: 'd.event', type: 'text' },
  tries: { sql: 'd.tries', type: 'bigint' },
} as const satisfies Record<string, Order>;

export const listDeliveries = read({
  name: 'webhook.deliveries',
  summary:
    'Lists the deliveries to a webhook in the last 30 days and their results, by default newest first.',
  reach: 'workspace',
  permission: 'workspace:read',
  fields: { id: webhookId, sort: sortBy(deliveryOrders, '-queued'), ...paging },
  output: pageOf(shownDelivery),
  http: [{ method: 'GET', path: `${webhooks}/{id}/deliveries` }],
  line: { arguments: ['id'], columns: ['id', 'event', 'state', 'tries', 'status', 'error', 'createdAt'] },
  run: async ({ store, scope }, { id, sort = '-queued', after, ...input }) => {
    if (!isUuid(id)) throw noWebhook(id);
    const list = { from: 'webhook_delivery d', id: 'd.id', orders: deliveryOrders };
    const ofWebhook = (values: unknown[]) => [
      within(scope, 'd.workspace_id', values),
      `d.webhook_id = $${values.push(id)}::uuid`,
    ];
    const page = { sort, after, limit: limitOf(input) };
    const { ids, next } = await pageOfIds(store, { ...list, where: ofWebhook }, page);
    const own = { id, ...inScope(scope) };
    if (ids.length === 0 && (await store.prisma.webhook.count({ where: own })) === 0) throw noWebhook(id);
    const rows = await store.prisma.webhookDelivery.findMany({
      where: { ...inScope(scope), id: { in: ids } },
    });
    const data = inOrderOf(ids, rows).map((row) => ({
      id: row.id,
      event: row.event,
      tries: row.tries,
      status: row.status,
      error: row.error,
      state: stateOfDelivery(row),
      createdAt: row.createdAt.toISOString(),
      deliveredAt: row.deliveredAt?.toISOString() ?? null,
      nextTryAt: row.nextTryAt?.toISOString() ?? null,
    }));
    return { data, next };
  },
});

export const webhookOperations = [
  createWebhook,
  setWebhook,
  deleteWebhook,
  testWebhook,
  redeliver,
  listWebhooks,
  listDeliveries,
];

interface Row {
  id: string;
  url: string;
  enabled: boolean;
  createdAt: Date;
}

async function lockWebhook({ store, scope }: Context<'workspace'>, id: string): Promise<Row> {
  const found = isUuid(id)
    ? await store.query(
        'SELECT 1 AS one FROM webhook WHERE id = $1::uuid AND workspace_id = $2::uuid FOR UPDATE',
        [id, scope.workspaceId],
      )
    : [];
  if (found.length === 0) throw noWebhook(id);
  return store.prisma.webhook.findUniqueOrThrow({ where: { id } });
}

/** @throws ControlRefused (conflict) if too many events wait for a receiver that does not accept them. */
async function refuseBacklog({ store }: Context<'workspace'>, id: string): Promise<void> {
  const where = { webhookId: id, nextTryAt: { not: null } };
  if ((await store.prisma.webhookDelivery.count({ where })) < mostWaiting) return;
  throw conflict(
    `${mostWaiting} events are waiting for this webhook; check why its receiver does not accept them`,
    'id',
  );
}

function noWebhook(id: string): ControlRefused {
  return notFound(`there is no webhook ${quoted(id)}; check its id`, 'id');
}

function shown({ id, url, enabled, createdAt }: Row) {
  return { id, url, enabled, createdAt: createdAt.toISOString() };
}

function stateOf({ url, enabled }: Row) {
  return { url, enabled };
}

function stateOfDelivery(row: { deliveredAt: Date | null; nextTryAt: Date | null }) {
  if (row.deliveredAt !== null) return 'delivered' as const;
  return row.nextTryAt === null ? ('given up' as const) : ('waiting' as const);
}
