import { z } from 'zod';
import { listQuarantined } from '#lib/control/billing/reconcile/quarantined';
import { checkLedger } from '#lib/control/billing/verify';
import { read } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { choice, time } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging } from '#lib/control/operations/field/paging';
import { ledgerLine, ledgerOrders, lineKinds, pageOfLedger } from '#lib/control/operations/ledger/list';
import { monthField } from '#lib/control/operations/ledger/month';
import { monthsOf, readStatement, statement } from '#lib/control/operations/ledger/statement';
import { quarantinedPayment } from '#lib/control/operations/top-up/quarantined';
import { formatUsd } from '#lib/core/money';
import { may } from '#lib/core/role';
import { listSetAside, type SetAside } from '#lib/gateway/settlement/set-aside';

export const listLedger = read({
  name: 'ledger.list',
  summary: 'Lists the ledger of a workspace: every line that changed its balance, oldest first by default.',
  reach: 'workspace',
  permission: 'workspace:read',
  fields: allOptional({
    from: time({ label: 'From', help: 'Start of the range.', example: '2026-11-01T00:00:00Z' }),
    to: time({ label: 'To', help: 'End of the range, exclusive.', example: '2026-12-01T00:00:00Z' }),
    month: monthField,
    kind: choice({ label: 'Kind', help: 'Only lines of this kind.', example: 'top_up' }, lineKinds),
    order: choice(
      {
        label: 'Order',
        help: 'Which line comes first; largest and smallest by the signed amount. Default: oldest.',
      },
      ledgerOrders,
    ),
    ...paging,
  }),
  output: pageOf(ledgerLine),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/ledger' }],
  line: {},
  run: ({ store, scope, role }, input) => {
    const receipts = role !== null && may(role, 'billing:read');
    return pageOfLedger(store, scope, input, { limit: limitOf(input), receipts });
  },
});

export const listMonths = read({
  name: 'ledger.months',
  summary: 'Lists the months that have a statement, latest first.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: z.object({ data: z.array(z.string()), next: z.null() }),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/statements' }],
  line: {},
  run: async ({ store, scope, nowMs }) => ({ data: await monthsOf(store, scope, nowMs), next: null }),
});

export const showStatement = read({
  name: 'ledger.statement',
  summary: 'Shows the statement of a month, from the opening to the closing balance.',
  reach: 'workspace',
  permission: 'workspace:read',
  fields: { month: monthField },
  output: statement,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/statements/{month}' }],
  line: { arguments: ['month'] },
  run: ({ store, scope, nowMs }, { month }) => readStatement(store, scope, month, nowMs),
});

const verification = z.object({
  ok: z.boolean(),
  overHold: z.string().describe('By how much charges exceeded their holds in total, dollars.'),
  deleted: z
    .object({ until: z.iso.datetime(), calls: z.int(), spent: z.string() })
    .nullable()
    .describe('Calls deleted by retention; they agreed with the ledger when they were deleted.'),
  amountsOfRows: z.literal('nano-dollars'),
  checks: z.array(
    z.object({
      name: z.string(),
      rows: z.array(z.unknown()),
      remedy: z.string().optional().describe('What to do about these rows.'),
    }),
  ),
  setAside: z
    .array(
      z.object({
        kind: z.enum(['damaged', 'rejected']),
        file: z.string(),
        callId: z.string().nullable(),
        record: z.string().nullable(),
      }),
    )
    .describe('Records in the journal of this machine that could not be posted to the ledger.'),
  quarantined: z
    .array(quarantinedPayment)
    .describe('Card payments that do not match an order and were not credited.'),
});

const verifyLedger = read({
  name: 'ledger.verify',
  summary: 'Checks every invariant of money and logs, and lists the rows that break one.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: verification,
  line: {},
  text: ({ checks, overHold, deleted, setAside, quarantined }) =>
    [
      ...checks.map(({ name, rows }) => `${rows.length === 0 ? 'ok    ' : 'BROKEN'} ${name}`),
      ...checks.flatMap(({ name, rows, remedy }) => [
        ...rows.map((row) => `  ${name}: ${JSON.stringify(row)}`),
        ...(remedy ? [`  to do: ${remedy}`] : []),
      ]),
      `charged above holds in total: ${overHold} USD`,
      ...(deleted ? [deletedLine(deleted)] : []),
      ...setAside.map(setAsideLine),
      ...quarantined.map(
        ({ event, why, payment, at }) =>
          `quarantined at ${at}: ${payment ?? 'a payment'} (${event}): ${why}; check it in Stripe and refund it there`,
      ),
    ].join('\n'),
  failed: ({ ok, checks }) => {
    const broken = checks.filter(({ rows }) => rows.length > 0).length;
    return ok ? null : `${broken} of ${checks.length} invariants are broken`;
  },
  run: async ({ store, journalDir }) => {
    const { ok, checks, overHoldNano, deleted } = await store.snapshot(checkLedger);
    return {
      ok,
      overHold: formatUsd(overHoldNano),
      deleted: deleted && {
        until: deleted.until.toISOString(),
        calls: Number(deleted.calls),
        spent: formatUsd(deleted.spentNano),
      },
      amountsOfRows: 'nano-dollars' as const,
      checks: checks.map(({ rows, ...check }) => ({ ...check, rows: [...rows] })),
      setAside: journalDir === null ? [] : listSetAside(journalDir),
      quarantined: await listQuarantined(store),
    };
  },
});

function deletedLine({ until, calls, spent }: { until: string; calls: number; spent: string }): string {
  return `deleted from the log, settled until ${until}: ${calls} calls for ${spent} USD, checked before deletion`;
}

/** What the books lack: nothing in them is wrong, but a call may not have been charged. */
function setAsideLine({ kind, file, callId, record }: SetAside): string {
  const what = `${record ?? 'a record'} of ${callId === null ? 'an unknown call' : `call ${callId}`}`;
  return kind === 'damaged'
    ? `SET ASIDE ${what}: damaged; its bytes are in journal/${file}, delete that file when you have dealt with it`
    : `SET ASIDE ${what}: could not be posted; journal/${file} is retried at the next start`;
}

export const ledgerOperations = [listLedger, listMonths, showStatement, verifyLedger];
