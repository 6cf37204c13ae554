import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import type { LeaseTotals } from '#lib/gateway/admission/lease-book';
import type { ProcessState } from '#lib/gateway/metrics/status';
import { registerCounter } from '#lib/programs/metrics/counter';

/** Connections to the database as `pg` counts them. */
export interface PoolCounts {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Callers waiting for a connection. */
  readonly waitingCount: number;
}

/** Registers the state of the process: admission, journal, leases, database. Money in dollars. */
export function registerState(registry: Registry, read: () => ProcessState, pool: PoolCounts): void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = [], collect?: () => void) =>
    new Gauge({
      name: `gateway_${name}`,
      help,
      labelNames,
      registers: [registry],
      ...(collect && { collect }),
    });
  // The first one fills them all, so that each scrape reads the state once.
  const ready = gauge('ready', '1 while new calls are accepted.', [], fill);
  const database = gauge('database_up', '1 while the database answers.');
  const limitStore = gauge(
    'limit_store_up',
    '1 while the store of shared limits answers. Without it, each process admits its share of each limit.',
  );
  const contentPlace = gauge(
    'content_place_up',
    '1 while the database or the store takes the content of calls. Meanwhile it waits in memory, and is lost when there is no more room.',
  );
  const calls = gauge('calls_in_flight', 'Calls that are running now.');
  const sockets = gauge('open_websockets', 'Open WebSockets of clients.', ['kind']);
  const backlog = gauge('journal_backlog_calls', 'Ended calls that are not in the database yet.');
  const oldest = gauge(
    'journal_oldest_seconds',
    'How long the oldest ended call has waited for the database; 0 if none is waiting.',
  );
  const setAside = gauge(
    'journal_set_aside_records',
    'Journal records that are not in the ledger: damaged, or rejected by the database.',
    ['kind'],
  );
  const leases = gauge('leases', 'Leases of workspaces, and of keys with caps.', ['kind']);
  const granted = gauge('leases_granted_dollars', 'How much the leases allow to spend.', ['kind']);
  const held = gauge('leases_held_dollars', 'How much running calls hold of the leases.', ['kind']);
  const unposted = gauge('leases_unposted_dollars', 'Charges that are not in the ledger yet.', ['kind']);
  registerCounter(registry, {
    name: 'gateway_content_kept_total',
    help: 'Calls whose content was kept.',
    read: () => [[{}, read().content.kept]],
  });
  registerCounter(registry, {
    name: 'gateway_content_lost_total',
    help: 'Calls whose content was to be kept and was lost, for lack of room, because it could not be masked, or because the process stopped.',
    read: () => [[{}, read().content.lost]],
  });
  const connections = gauge(
    'database_connections',
    'Open and idle connections, and callers waiting for one.',
    ['state'],
  );

  function fill(): void {
    const state = read();
    ready.set(state.ready ? 1 : 0);
    database.set(state.databaseUp ? 1 : 0);
    if (state.limitStore === null) limitStore.remove();
    else limitStore.set(state.limitStore ? 1 : 0);
    if (state.contentPlace === null) contentPlace.remove();
    else contentPlace.set(state.contentPlace ? 1 : 0);
    calls.set(state.callsInFlight);
    for (const [kind, open] of Object.entries(state.sockets)) sockets.set({ kind }, open);
    backlog.set(state.journalBacklog);
    oldest.set(state.journalOldestMs / 1000);
    setAside.set({ kind: 'damaged' }, state.setAside.damaged);
    setAside.set({ kind: 'rejected' }, state.setAside.rejected);
    for (const totals of state.leases) fillLeases(totals);
    connections.set({ state: 'open' }, pool.totalCount);
    connections.set({ state: 'idle' }, pool.idleCount);
    connections.set({ state: 'waiting' }, pool.waitingCount);
  }

  function fillLeases({ kind, count, grantedNano, heldNano, debtNano }: LeaseTotals): void {
    leases.set({ kind }, count);
    granted.set({ kind }, dollars(grantedNano));
    held.set({ kind }, dollars(heldNano));
    unposted.set({ kind }, dollars(debtNano));
  }
}

/** Registers the version, and the disk space of the journal. */
export function registerMachine(
  registry: Registry,
  { version, dataDir }: { readonly version: string; readonly dataDir: string },
): void {
  const registers = [registry];
  new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; the label has the version of the gateway.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  const room = (name: string, help: string, of: (blocks: { bavail: number; blocks: number }) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const found = await statfs(dataDir).catch(() => null);
        if (found === null) this.remove();
        else this.set(of(found) * found.bsize);
      },
    });
  room('gateway_disk_free_bytes', 'Free space on the disk of the journal.', ({ bavail }) => bavail);
  room('gateway_disk_bytes', 'Size of the disk of the journal.', ({ blocks }) => blocks);
}

/** For graphs only: a gauge is a floating point number. */
function dollars(nano: bigint): number {
  return Number(nano) / 1e9;
}
