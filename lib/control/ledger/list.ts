import { z } from 'zod';
import { isUuid } from '#lib/control/field/kinds';
import { badInput } from '#lib/control/refusal';
import { type WorkspaceScope, within } from '#lib/control/scope';
import type { Store } from '#lib/control/store';
import { formatUsd } from '#lib/money';

const dollars = (description: string) => z.string().meta({ description });

/** A line as "ledger list" shows it (contract: operations/ledger-list). */
export const ledgerLine = z.object({
  id: z.uuid(),
  at: z.iso
    .datetime()
    .meta({ description: 'When it was posted; of usage, the start of its quarter of an hour.' }),
  kind: z.enum(['usage', 'top_up', 'promo', 'refund', 'dispute', 'adjustment']),
  amount: dollars('Dollars as a signed decimal string: a charge is negative.'),
  balance: dollars('The balance after this line.'),
  calls: z.int().nullable().meta({ description: 'Of usage: how many calls and jobs cost it.' }),
  reason: z.string().nullable(),
  ref: z
    .string()
    .meta({ description: 'What it stands for: a quarter of an hour, a call, a payment, a posting.' }),
});
type LedgerLine = z.output<typeof ledgerLine>;

/** Where a page ended: its last line. */
interface Place {
  readonly at: Date;
  readonly id: string;
}

interface StoredLine {
  id: string;
  at: Date;
  kind: LedgerLine['kind'];
  ref: string;
  amount: string;
  balance: string;
  calls: number | null;
  reason: string | null;
}

/**
 * A page of a workspace's ledger, the oldest line first, each with the balance after it. The balance before the page
 * is the sum of the days before, and of the lines of its own day: exact, and never a scan of all lines.
 * @param page `from` and `to`: [from, to).
 * @throws ControlRefused (invalid_body) for an `after` that is no place.
 */
export async function pageOfLedger(
  store: Store,
  scope: WorkspaceScope,
  page: {
    readonly from?: Date | undefined;
    readonly to?: Date | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<{ data: LedgerLine[]; next: string | null }> {
  const { from, to, limit } = page;
  const place = page.after === undefined ? null : placeOf(page.after);
  const values: unknown[] = [limit + 1];
  const workspace = within(scope, 'workspace_id', values);
  const given = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const where = [workspace];
  let before: Before | null = null;
  if (from) {
    const start = given(from, 'timestamptz');
    where.push(`at >= ${start}`);
    before = { at: start, lines: `at < ${start}` };
  }
  if (to) where.push(`at < ${given(to, 'timestamptz')}`);
  if (place) {
    const [at, id] = [given(place.at, 'timestamptz'), given(place.id, 'uuid')];
    where.push(`(at, id) > (${at}, ${id})`);
    if (!from || place.at >= from) before = { at, lines: `(at, id) <= (${at}, ${id})` };
  }
  const opening = before === null ? '0' : openingOf(workspace, before);
  // One statement sees one state: a usage line may grow between two.
  const found = await store.query<StoredLine>(
    `SELECT id::text AS id, at, kind, ref, amount_nano::text AS amount, calls, reason,
       (${opening} + sum(amount_nano) OVER (ORDER BY at, id ROWS UNBOUNDED PRECEDING))::text AS balance
     FROM (SELECT * FROM ledger_line WHERE ${where.join(' AND ')} ORDER BY at, id LIMIT $1) AS page ORDER BY at, id`,
    values,
  );
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    data: found.slice(0, limit).map(shown),
    next: last ? `${last.at.getTime()}.${last.id}` : null,
  };
}

/** Which lines stand before a page, and (SQL) a moment of the day in which it begins. */
interface Before {
  readonly at: string;
  readonly lines: string;
}

/** The sum of the whole days before a page, and of those lines of its day that stand before it. */
function openingOf(workspace: string, { at, lines }: Before): string {
  const day = `date_trunc('day', ${at}, 'UTC')`;
  return `(SELECT coalesce(sum(amount_nano), 0) FROM ledger_day WHERE ${workspace} AND day < ${day})
    + (SELECT coalesce(sum(amount_nano), 0) FROM ledger_line WHERE ${workspace} AND at >= ${day} AND ${lines})`;
}

function placeOf(text: string): Place {
  const [, at = '', id = ''] = /^(\d{1,14})\.([0-9a-f-]{36})$/.exec(text) ?? [];
  if (!isUuid(id)) throw badInput('after', 'this is not the "next" of a page of the ledger');
  return { at: new Date(Number(at)), id };
}

function shown(line: StoredLine): LedgerLine {
  const { id, at, kind, calls, reason, ref } = line;
  return {
    id,
    at: at.toISOString(),
    kind,
    amount: formatUsd(BigInt(line.amount)),
    balance: formatUsd(BigInt(line.balance)),
    calls,
    reason,
    ref,
  };
}
