import { z } from 'zod';
import { isUuid } from '#lib/control/field/kinds';
import { badInput } from '#lib/control/refusal';
import { type WorkspaceScope, within } from '#lib/control/scope';
import type { Store } from '#lib/control/store';
import { formatUsd } from '#lib/money';

/** Why money moved, as the ledger is shown (operations.md "ledger list"). */
const kinds = ['usage', 'top_up', 'promo', 'refund', 'dispute', 'adjustment'] as const;
type Kind = (typeof kinds)[number];

/** The stored kinds. What is none of them moved money without a cause of its own: an adjustment. */
const shownKinds: ReadonlyMap<string, Kind> = new Map([
  ['call', 'usage'],
  ['job', 'usage'],
  ['topup', 'top_up'],
  ['refund', 'refund'],
  ['dispute', 'dispute'],
  ['credit', 'adjustment'],
  ['adjustment', 'adjustment'],
]);

const dollars = (description: string) => z.string().meta({ description });

export const ledgerLine = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  kind: z.enum(kinds),
  amount: dollars('Dollars as a signed decimal string: a charge is negative.'),
  balance: dollars('The balance after this line.'),
  calls: z.int().nullable().meta({ description: 'How many calls cost it; null: it is no usage.' }),
  reason: z.string().nullable(),
  ref: z.string().meta({ description: 'What it stands for: the id of a call, of a payment, of a posting.' }),
});
type LedgerLine = z.output<typeof ledgerLine>;

/** Where a page ended: its last line, and the balance after it, so that the next one need not add up again. */
interface Place {
  readonly at: Date;
  readonly id: string;
  readonly balanceNano: bigint;
}

interface StoredLine {
  id: string;
  at: Date;
  kind: string;
  ref: string;
  amount: string;
  reason: string | null;
}

/**
 * A page of a workspace's ledger, the oldest line first, each with the balance after it.
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
  const place = page.after === undefined ? null : placeOf(page.after);
  const values: unknown[] = [page.limit + 1];
  const where = [within(scope, 'workspace_id', values)];
  const add = (condition: string, ...given: unknown[]) => {
    where.push(condition.replace(/\?/g, () => `$${values.push(given.shift())}`));
  };
  if (page.from) add('at >= ?::timestamptz', page.from);
  if (page.to) add('at < ?::timestamptz', page.to);
  if (place) add('(at, id) > (?::timestamptz, ?::uuid)', place.at, place.id);
  const found = await store.query<StoredLine>(
    `SELECT id::text AS id, at, kind, ref, amount_nano::text AS amount, reason FROM ledger_line
     WHERE ${where.join(' AND ')} ORDER BY at, id LIMIT $1`,
    values,
  );
  let balanceNano = place?.balanceNano ?? (await balanceBefore(store, scope, page.from));
  const data = found.slice(0, page.limit).map((line) => {
    balanceNano += BigInt(line.amount);
    return shown(line, balanceNano);
  });
  const last = found.length > page.limit ? found[page.limit - 1] : undefined;
  return { data, next: last ? `${last.at.getTime()}.${last.id}.${balanceNano}` : null };
}

function placeOf(text: string): Place {
  const [, at = '', id = '', balance = ''] = /^(\d{1,14})\.([0-9a-f-]{36})\.(-?\d{1,19})$/.exec(text) ?? [];
  if (!isUuid(id)) throw badInput('after', 'this is not the "next" of a page of the ledger');
  return { at: new Date(Number(at)), id, balanceNano: BigInt(balance) };
}

async function balanceBefore(store: Store, scope: WorkspaceScope, at: Date | undefined): Promise<bigint> {
  if (!at) return 0n;
  const values: unknown[] = [at];
  const [before] = await store.query<{ sum: string }>(
    `SELECT coalesce(sum(amount_nano), 0)::text AS sum FROM ledger_line
     WHERE ${within(scope, 'workspace_id', values)} AND at < $1::timestamptz`,
    values,
  );
  return BigInt(before?.sum ?? '0');
}

function shown({ id, at, kind, ref, amount, reason }: StoredLine, balanceNano: bigint): LedgerLine {
  const known = shownKinds.get(kind) ?? 'adjustment';
  return {
    id,
    at: at.toISOString(),
    kind: known,
    amount: formatUsd(BigInt(amount)),
    balance: formatUsd(balanceNano),
    calls: known === 'usage' ? 1 : null,
    reason,
    ref,
  };
}
