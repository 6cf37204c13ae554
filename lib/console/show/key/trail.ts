import { auditValue } from '#lib/console/show/audit-sentence';
import { showAgo, showMoment, showZone } from '#lib/console/show/time';
import { keySettings } from '#lib/control/operations/key/settings';

/** An audit row of a key, as `audit.list` returns it. */
interface AuditRow {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

interface Place {
  readonly timeZone: string;
  readonly nowMs: number;
  /** Names of people, by id. */
  readonly people: ReadonlyMap<string, string>;
}

const deeds: Readonly<Record<string, string>> = {
  'key.create': 'created the key',
  'key.set': 'changed the settings',
  'key.rotate': 'rotated the secret',
  'key.end-overlap': 'stopped the old secret',
  'key.enable': 'enabled the key',
  'key.disable': 'disabled the key',
  'key.exhaust': 'marked the quota as used up',
  'key.restore': 'restored the key despite its quota',
  'key.revoke': 'revoked the key',
};

/** An audit row of a key in words. */
export function trailRowOf(row: AuditRow, { timeZone, nowMs, people }: Place) {
  const atMs = Date.parse(row.at);
  const settings = row.action === 'key.set' ? Object.entries(keySettings) : [];
  return {
    id: row.id,
    who: whoOf(row.actor, people),
    did: deeds[row.action] ?? row.action,
    changes: settings.flatMap(([name, field]) => {
      const [was, is] = [row.before?.[name], row.after?.[name]];
      if (was === undefined && is === undefined) return [];
      return [`${field.label}: ${auditValue(field, was)} → ${auditValue(field, is)}`];
    }),
    time: showAgo(atMs, nowMs),
    exact: `${showMoment(atMs, timeZone)} (${showZone(timeZone, atMs)})`,
  };
}

function whoOf(actor: string, people: ReadonlyMap<string, string>): string {
  const known = people.get(actor);
  if (known !== undefined) return known;
  if (actor.startsWith('management-key ')) return 'A management key';
  return /^[0-9a-f-]{36}$/.test(actor) ? 'A former member' : `The ${actor}`;
}
