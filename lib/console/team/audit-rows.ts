import { csvLine } from '#lib/console/csv/line';
import { auditSentence } from '#lib/console/show/audit-sentence';
import { showAgo, showMoment, showZone, usableZone } from '#lib/console/show/time';

/** An audit row, as `audit.list` returns it. */
interface ListedRow {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly called: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly address: string | null;
}

/** An audit row, formatted. */
export interface AuditRow {
  readonly id: string;
  readonly who: string;
  /** As in the audit row. */
  readonly actor: string;
  /** What they did, in words: "revoked the key “web”". */
  readonly did: string;
  readonly action: string;
  readonly subject: string;
  readonly changes: readonly {
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
  readonly time: { readonly text: string; readonly exact: string };
  readonly address: string;
}

interface Place {
  readonly timeZone: string;
  readonly nowMs: number;
  /** Names of actors, by their value in audit rows. */
  readonly actors: ReadonlyMap<string, string>;
}

export function auditRowOf(row: ListedRow, { timeZone, nowMs, actors }: Place): AuditRow {
  const { id, actor, action, subject, before, after } = row;
  const atMs = Date.parse(row.at);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return {
    id,
    actor,
    action,
    subject,
    who: actors.get(actor) ?? actor,
    did: auditSentence(row),
    changes: names.map((name) => ({ name, before: told(before, name), after: told(after, name) })),
    time: {
      text: `${showMoment(atMs, timeZone)}`,
      exact: `${showAgo(atMs, nowMs)}; ${row.at} (${showZone(timeZone, atMs)})`,
    },
    address: row.address ?? 'this machine',
  };
}

/** null: there is no value on that side. */
function told(state: ListedRow['before'], name: string): string | null {
  if (state === null || !(name in state)) return null;
  const value = state[name];
  if (value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const auditCsvHead = csvLine([
  'time',
  'time_utc',
  'actor',
  'actor_name',
  'action',
  'subject',
  'before',
  'after',
  'address',
  'id',
]);

/** A row of the CSV file: the time with the zone's offset, and in UTC. */
export function auditCsvLine(row: ListedRow, { timeZone, actors }: Omit<Place, 'nowMs'>): string {
  const json = (state: ListedRow['before']) => (state === null ? null : JSON.stringify(state));
  return csvLine([
    withOffset(row.at, timeZone),
    ...[row.at, row.actor, actors.get(row.actor) ?? null, row.action, row.subject],
    ...[json(row.before), json(row.after), row.address, row.id],
  ]);
}

/** "2026-11-22T14:03:26+05:30". */
function withOffset(iso: string, zone: string): string {
  const at = new Date(iso);
  const read = new Intl.DateTimeFormat('sv-SE', {
    timeZone: usableZone(zone),
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(at);
  const [, offset = ''] = showZone(zone, at.getTime()).split(', UTC');
  return `${read.replace(' ', 'T')}${offset || '+00:00'}`;
}
