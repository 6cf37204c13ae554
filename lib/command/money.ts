import { join } from 'node:path';
import { verifyLedger } from '#lib/billing/verify';
import { actor, type Command, CommandRefused } from '#lib/command/command';
import { tableLines } from '#lib/command/text';
import { getWorkspaceId } from '#lib/command/workspace';
import { formatUsd, parseUsd } from '#lib/money';
import { readUsage, type UsageBy } from '#lib/queries/usage';
import { listSetAside, type SetAside } from '#lib/settlement/set-aside';
import { addCredit } from '#lib/verbs/credit';

const groupings: readonly UsageBy[] = ['model', 'key', 'provider', 'day'];

export const credit: readonly Command[] = [
  {
    name: 'credit add',
    usage: 'WORKSPACE USD --reason TEXT   (negative to correct)',
    positionals: ['WORKSPACE', 'USD'],
    options: ['reason'],
    required: ['reason'],
    run: async (context, input) => {
      const [workspace = '', amount = ''] = input.positionals;
      const done = await addCredit(await context.db(), actor, {
        workspace,
        amount,
        reason: input.options.reason ?? '',
      });
      await context.announce();
      return { json: done, text: `${amount} USD posted to ${workspace}` };
    },
  },
];

export const usage: readonly Command[] = [
  {
    name: 'usage',
    usage: `--workspace SLUG --from ISO --to ISO --by ${groupings.join('|')}`,
    positionals: [],
    options: ['workspace', 'from', 'to', 'by'],
    required: ['workspace', 'from', 'to', 'by'],
    run: async (context, input) => {
      const by = groupings.find((one) => one === input.options.by);
      if (!by) throw new CommandRefused(`--by: write one of ${groupings.join(', ')}`);
      const fromMs = readTime('from', input.options.from);
      const toMs = readTime('to', input.options.to);
      if (toMs <= fromMs) throw new CommandRefused('--to must be later than --from');
      const db = await context.db();
      const { id, slug } = await getWorkspaceId(db, input.options.workspace ?? '');
      const rows = await readUsage(db, { workspaceId: id, fromMs, toMs, by });
      const cost = formatUsd(rows.reduce((sum, row) => sum + parseUsd(row.cost), 0n));
      const json = {
        workspace: slug,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        by,
        cost,
        rows: rows.map(({ group, name, ...rest }) => ({
          [by]: group,
          ...(by === 'key' ? { name } : {}),
          ...rest,
        })),
      };
      const titles = [by.toUpperCase(), 'CALLS', 'ERRORS', 'INPUT', 'CACHED', 'OUTPUT', 'COST'];
      const lines = rows.map((row) => [
        row.name ?? row.group,
        row.calls,
        row.errors,
        row.inputTokens,
        row.cachedTokens,
        row.outputTokens,
        row.cost,
      ]);
      return { json, text: `${tableLines(titles, lines, 'no calls in that time')}\ntotal ${cost}` };
    },
  },
];

export const ledger: readonly Command[] = [
  {
    name: 'ledger verify',
    usage: '',
    positionals: [],
    options: [],
    required: [],
    run: async (context) => {
      const found = await verifyLedger(await context.db());
      const broken = found.checks.filter((check) => check.rows.length > 0);
      const lines = found.checks.map(
        (check) => `${check.rows.length === 0 ? 'ok    ' : 'BROKEN'} ${check.name}`,
      );
      const rows = broken.flatMap((check) =>
        check.rows.map((row) => `  ${check.name}: ${JSON.stringify(row)}`),
      );
      const overHold = formatUsd(found.overHoldNano);
      const setAside = listSetAside(join(context.env().dataDir, 'journal'));
      return {
        json: { ok: found.ok, overHold, amountsOfRows: 'nano-dollars', checks: found.checks, setAside },
        text: [
          ...lines,
          ...rows,
          `charged above holds, all calls together: ${overHold} USD`,
          ...setAside.map(setAsideLine),
        ].join('\n'),
        ...(found.ok ? {} : { failed: `${broken.length} of ${found.checks.length} invariants are broken` }),
      };
    },
  },
];

/** What the books of this machine lack: nothing in them is wrong, but a call may not have been charged. */
function setAsideLine({ kind, file, callId, record }: SetAside): string {
  const what = `${record ?? 'a record'} of ${callId === null ? 'an unknown call' : `call ${callId}`}`;
  return kind === 'damaged'
    ? `SET ASIDE ${what}: damaged; its bytes are in journal/${file}, delete that file when it is dealt with`
    : `SET ASIDE ${what}: could not be posted; journal/${file} is tried again at the next start`;
}

/** A moment: a date counts from its midnight in UTC. */
function readTime(option: string, text: string | undefined): number {
  const ms = /^\d{4}-\d{2}-\d{2}([T ].+)?$/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  if (Number.isNaN(ms)) throw new CommandRefused(`--${option}: write a time like 2026-07-02T12:00:00Z`);
  return ms;
}
