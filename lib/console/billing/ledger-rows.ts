import { listUrl } from '#lib/console/list-url';
import { showMinute, showMoment, showMonth } from '#lib/console/show/time';
import type { LedgerLine } from '#lib/control/operations/ledger/list';
import { showCount, showMoneyDown } from '#lib/core/show-money';

const quarterMs = 900_000;

export const kindNames: Readonly<Record<LedgerLine['kind'], string>> = {
  usage: 'Usage',
  top_up: 'Top-up',
  promo: 'Promo credit',
  expiry: 'Promo expired',
  refund: 'Refund',
  dispute: 'Dispute',
  adjustment: 'Adjustment',
};

/** A line of the ledger, formatted. */
export interface LedgerRow {
  readonly id: string;
  readonly when: string;
  /** ISO, in UTC. */
  readonly at: string;
  readonly kind: LedgerLine['kind'];
  readonly name: string;
  /** Its reason, in words; null: the name says it. */
  readonly why: string | null;
  readonly link: { readonly href: string; readonly text: string; readonly away: boolean } | null;
  readonly amount: string;
  readonly exactAmount: string;
  readonly balance: string;
  readonly exactBalance: string;
  readonly below: boolean;
  /** The part that is simulated money; null: none. */
  readonly simulated: string | null;
  /** What the line is for, as the API has it. */
  readonly ref: string;
}

/** @param zone IANA. */
export function ledgerRowOf(line: LedgerLine, place: { workspace: string; zone: string }): LedgerRow {
  return {
    id: line.id,
    at: line.at,
    kind: line.kind,
    name: kindNames[line.kind],
    when: whenOf(line, place.zone),
    why: whyOf(line),
    link: linkOf(line, place.workspace),
    amount: showSigned(line.amount),
    exactAmount: `$${line.amount}`,
    balance: showMoneyDown(line.balance),
    exactBalance: `$${line.balance}`,
    below: line.balance.startsWith('-'),
    simulated: line.simulated === '0' ? null : showSigned(line.simulated),
    ref: line.ref,
  };
}

/** "21 Nov, 14:03:26"; of usage, which is posted all through a quarter of an hour, "21 Nov, 14:00–14:15". */
function whenOf({ kind, at }: LedgerLine, zone: string): string {
  const atMs = Date.parse(at);
  if (kind !== 'usage') return showMoment(atMs, zone);
  const [, end = ''] = showMinute(atMs + quarterMs, zone).split(', ');
  return `${showMinute(atMs, zone)}–${end}`;
}

const whys: Partial<Record<LedgerLine['kind'], string>> = {
  top_up: 'Paid by card',
  refund: 'Returned to the card',
  expiry: 'Unspent promo credit at its expiry',
};

function whyOf(line: LedgerLine): string | null {
  const why = (line.reason === kindNames[line.kind] ? null : line.reason) ?? whys[line.kind] ?? null;
  if (line.simulated === '0') return why;
  const part =
    line.simulated === line.amount ? 'Simulated money' : `${showSigned(line.simulated)} of simulated money`;
  return why === null ? part : `${why} · ${part}`;
}

/** "+$10.00", "−$0.31". */
function showSigned(usd: string): string {
  return `${usd.startsWith('-') ? '' : '+'}${showMoneyDown(usd)}`;
}

function linkOf(line: LedgerLine, workspace: string): LedgerRow['link'] {
  const logs = `/${workspace}/logs`;
  if (line.calls !== null) {
    // Calls admitted in that quarter of an hour: almost the same as those settled in it.
    const to = new Date(Date.parse(line.at) + quarterMs).toISOString();
    const text = `${showCount(line.calls)} ${line.calls === 1 ? 'call' : 'calls'}`;
    return { href: listUrl(logs, { from: line.at, to }), text, away: false };
  }
  if (line.call !== null) return { href: `${logs}/${line.call}`, text: 'The call', away: false };
  if (line.receiptUrl !== null) return { href: line.receiptUrl, text: 'Receipt', away: true };
  return null;
}

/** All kinds, the ones that people look for most first. */
export const namesOfKinds = [
  'usage',
  'top_up',
  'promo',
  'expiry',
  'refund',
  'dispute',
  'adjustment',
] as const;

export const kindChoices = [
  { value: '', label: 'All lines' },
  ...namesOfKinds.map((kind) => ({ value: kind, label: kindNames[kind] })),
];

/** The months to choose from. @param months as "2026-11". */
export function monthChoices(months: readonly string[]): { value: string; label: string }[] {
  return [
    { value: '', label: 'All months' },
    ...months.map((month) => ({ value: month, label: showMonth(month) })),
  ];
}
