import { centsOf, feeOf } from '#lib/control/billing/payments/cents';
import { closePage } from '#lib/control/billing/payments/pages/close';
import { change, create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { amount, id, toggle } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging, sortBy } from '#lib/control/operations/field/paging';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { listTopUpRows, readTopUp, topUp, topUpOrders } from '#lib/control/operations/top-up/find';
import { checkoutOf, paymentsOf } from '#lib/control/operations/top-up/page';
import { openPortal } from '#lib/control/operations/top-up/portal';
import { reconcileBilling } from '#lib/control/operations/top-up/reconcile';
import { showBillingState } from '#lib/control/operations/top-up/state';
import { formatUsd } from '#lib/core/money';
import { newRowId } from '#lib/platform/data/row-id';

/** Cents (contract: money/top-up-order). */
export const leastCents = 500;
export const mostCents = 1_000_000;

export const createTopUp = create({
  name: 'top-up.create',
  summary: 'Orders a top-up to be paid by card; its url is the page to pay on.',
  reach: 'workspace',
  permission: 'billing:write',
  fields: {
    amount: amount({ label: 'Amount', help: 'Dollars, 5 to 10000, in whole cents.', example: '20' }),
    saveCard: optional(
      toggle({
        label: 'Save the card',
        help: 'Allows automatic top-ups to charge this card, within the limits that you set.',
        example: false,
      }),
    ),
  },
  output: topUp,
  http: [{ method: 'POST', path: '/workspaces/{workspace}/top-ups' }],
  line: { arguments: ['workspace', 'amount'] },
  text: ({ id, url }) => `top-up ${id}; pay at ${url}`,
  run: async ({ store, scope, payments, nowMs }, { amount: nano, saveCard = false }) => {
    const { livemode, feeBasisPoints } = paymentsOf(payments);
    const cents = centsOf(nano);
    if (cents === null || cents < leastCents || cents > mostCents) {
      throw badInput('amount', 'a top-up is 5 to 10000 dollars, in whole cents');
    }
    if (scope.demo) throw badInput(null, 'a demo workspace has only made-up money; top up another workspace');
    const order = { id: newRowId(), cents, feeCents: feeOf(cents, feeBasisPoints), livemode, saveCard };
    await store.prisma.topUp.create({ data: { ...order, workspaceId: scope.workspaceId } });
    const shown = { amount: formatUsd(nano), status: 'open' as const };
    return {
      result: {
        ...shown,
        id: order.id,
        fee: formatUsd(BigInt(order.feeCents) * 10_000_000n),
        failure: null,
        url: null,
        refunded: '0',
        createdAt: new Date(nowMs).toISOString(),
        paidAt: null,
        test: !livemode,
        automatic: false,
        receiptUrl: null,
        invoiceUrl: null,
      },
      subject: order.id,
      before: null,
      after: shown,
    };
  },
  follow: async ({ store, pool, scope, payments }, { id }) => {
    await checkoutOf(store, scope, { pool, payments: paymentsOf(payments) }, id);
    return readTopUp(store, scope, id);
  },
});

export const cancelTopUp = change({
  name: 'top-up.cancel',
  summary: 'Gives up a top-up that is not paid; a payment that is already on its way is still credited.',
  reach: 'workspace',
  permission: 'billing:write',
  fields: { id: id({ label: 'Top-up', help: 'Its id.' }) },
  output: topUp,
  http: [{ method: 'POST', path: '/workspaces/{workspace}/top-ups/{id}/cancel' }],
  line: { arguments: ['workspace', 'id'] },
  text: ({ id, status }) => `top-up ${id} is ${status}`,
  run: async ({ store, scope, nowMs }, input) => {
    const before = await readTopUp(store, scope, input.id);
    const { id, status, automatic } = before;
    if (automatic)
      throw badInput('id', 'this top-up was ordered automatically; switch automatic top-ups off');
    if (status !== 'open' && status !== 'canceled')
      throw conflict(`this top-up is ${status}; only open ones can be canceled`, 'id');
    // Whatever came to it meanwhile stays.
    const open = { id, workspaceId: scope.workspaceId, status: 'open', canceledAt: null };
    await store.prisma.topUp.updateMany({ where: open, data: { canceledAt: new Date(nowMs) } });
    const result = await readTopUp(store, scope, id);
    return { result, subject: id, before: { status }, after: { status: result.status } };
  },
  follow: async ({ store, pool, scope, payments }, { id }) => {
    // What cannot be closed now is closed within a minute.
    if (payments) await closePage(pool, payments, id).catch(() => undefined);
    return readTopUp(store, scope, id);
  },
});

export const showTopUp = read({
  name: 'top-up.show',
  summary: 'Shows a top-up and its status: open, paid, expired, failed, canceled or refunded.',
  reach: 'workspace',
  permission: 'billing:read',
  fields: { id: id({ label: 'Top-up', help: 'Its id.' }) },
  output: topUp,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/top-ups/{id}' }],
  line: { arguments: ['id'] },
  run: ({ store, scope }, input) => readTopUp(store, scope, input.id),
});

export const listTopUps = read({
  name: 'top-up.list',
  summary: 'Lists the top-ups of a workspace, by default newest first.',
  reach: 'workspace',
  permission: 'billing:read',
  fields: { sort: sortBy(topUpOrders, '-created'), ...paging },
  output: pageOf(topUp),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/top-ups' }],
  line: { columns: ['id', 'createdAt', 'amount', 'status', 'refunded'] },
  run: ({ store, scope }, { sort = '-created', after, ...input }) =>
    listTopUpRows(store, scope, { sort, after, limit: limitOf(input) }),
});

export const topUpOperations = [
  createTopUp,
  cancelTopUp,
  showTopUp,
  listTopUps,
  openPortal,
  reconcileBilling,
  showBillingState,
];
