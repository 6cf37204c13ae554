import { conflict } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { keyPrints, type SealingKey, sealingWith } from '#lib/platform/sealing';

/** Maximum of processes that a refusal names. */
const mostNamed = 5;

interface LiveProcess {
  readonly machine: string;
  readonly pid: number;
  /** Of the keys with which it opens secrets; null: an older version, which does not report them. */
  readonly prints: readonly string[] | null;
}

/** The gateway processes of all machines; those that settle only in the database do not register. */
function liveProcesses({ query }: Pick<Store, 'query'>): Promise<LiveProcess[]> {
  return query<LiveProcess>(
    'SELECT machine, pid, key_prints AS prints FROM owner WHERE pid > 0 AND expires_at > now() ORDER BY machine, pid',
    [],
  );
}

/**
 * The keys of this process, starting with the one whose secrets every gateway process can open: while processes are
 * being restarted with a new ENCRYPTION_KEY, this is still the old one (contract: operations/secret-rotation).
 */
export async function commonKey(store: Pick<Store, 'query'>, key: SealingKey): Promise<SealingKey> {
  const said = (await liveProcesses(store)).flatMap(({ prints }) => (prints === null ? [] : [prints]));
  const at = keyPrints(key).findIndex((print) => said.every((prints) => prints.includes(print)));
  return at <= 0 ? key : sealingWith(key, at);
}

/** @throws ControlRefused (conflict) while any gateway process could not open secrets sealed with ENCRYPTION_KEY. */
export async function refuseWhileUnknown(store: Pick<Store, 'query'>, key: SealingKey): Promise<void> {
  const [print = ''] = keyPrints(key);
  const without = (await liveProcesses(store)).filter(({ prints }) => !prints?.includes(print));
  if (without.length === 0) return;
  const named = without.slice(0, mostNamed).map(({ machine, pid }) => `process ${pid} on ${machine}`);
  const more = without.length > mostNamed ? ` and ${without.length - mostNamed} more` : '';
  throw conflict(
    `this ENCRYPTION_KEY is unknown to ${named.join(', ')}${more}; restart them with it and with the old one as ENCRYPTION_KEY_OLD, then rotate`,
  );
}
