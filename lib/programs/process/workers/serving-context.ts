import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from 'pino';
import { type Env, envSecret } from '#lib/platform/env/env';
import { orExplain } from '#lib/programs/process/explain';
import { checkPort } from '#lib/programs/process/listener/port';
import { type Connections, connect, openStore } from '#lib/programs/process/open-database';
import { warnOfFewFiles } from '#lib/programs/process/open-files';
import { operatorLink } from '#lib/programs/process/operator-link';
import { logWhatIsPrinted } from '#lib/programs/process/printed';
import { meetSecrets } from '#lib/programs/process/secrets';
import { openUpstreams, type Upstreams } from '#lib/programs/process/upstreams';
import { welcome } from '#lib/programs/process/welcome';
import { hearPrimary, tellPrimary } from '#lib/programs/process/workers/messages';
import { awaitEarlierWorkers, forgetOwner, holdOwner } from '#lib/programs/process/workers/owner-locks';
import type { WorkerSettings } from '#lib/programs/process/workers/worker-settings';
import { seedFirstRun } from '#prisma/seed';

/** Where a process serves, and what it shares with the other processes of its machine, if there are any. */
export interface ServingContext extends Connections {
  /** Whether the database is the embedded one. */
  readonly embedded: boolean;
  readonly upstreams: Upstreams;
  /** Secrets that verify sessions; the first one signs them. */
  readonly authSecrets: readonly string[];
  /** null: it is the only process of its machine. */
  readonly worker: Pick<WorkerSettings, 'number' | 'ownerId'> | null;
  /** Whether it does what happens once at the start of a machine. */
  readonly first: boolean;
  /** Has the server accept connections from now on. @param ready called when it does. */
  open(server: Server, ready: () => void): void;
  /** Accepts no new connections; open ones stay. Other processes of the machine go on accepting, if there are any. */
  shut(): void;
  close(): Promise<void>;
}

/**
 * Opens what a machine has once, however many processes serve on it: the database, DATA_DIR, the simulated provider.
 * From then on, printed output goes to the log.
 * @param dev Next's development mode, which prints directly.
 */
export async function openMachine(env: Env, log: Logger, dev: boolean) {
  warnOfFewFiles(log);
  const store = await orExplain(() => openStore(env, log, () => checkPort(env)));
  await orExplain(() => awaitEarlierWorkers(env.dataDir));
  const { authSecrets } = await orExplain(() => meetSecrets(store.operationsDb, env, log));
  const sayHello = process.stdout.write.bind(process.stdout);
  if (!dev) logWhatIsPrinted(log);
  const firstRun = store.embedded ? await seedFirstRun(store.operationsDb, env) : null;
  const link = await operatorLink(store.operationsDb, env);
  const upstreams = await openUpstreams(env, log);
  return {
    db: store.db,
    operationsDb: store.operationsDb,
    embedded: store.embedded,
    /** The address of the database, embedded or not. */
    databaseUrl: store.url,
    upstreams,
    authSecrets,
    /** Says that the gateway is ready, and on the first run how to make a call. */
    welcome: () => void sayHello(welcome(env, firstRun, link)),
    close: async () => {
      await upstreams.close();
      await store.close();
    },
  };
}

/** The context of the only process of a machine. */
export async function alone(env: Env, log: Logger, dev: boolean): Promise<ServingContext> {
  const machine = await openMachine(env, log, dev);
  let shut = () => {};
  return {
    ...machine,
    worker: null,
    first: true,
    open: (server, ready) => {
      // The `close` of `node:http` would also close idle connections, on which a request may be on its way.
      shut = () => void NetServer.prototype.close.call(server);
      server.listen(env.port, env.host, () => {
        machine.welcome();
        ready();
      });
    },
    shut: () => shut(),
  };
}

/** The context of one of several processes: the primary has opened the machine. */
export function amongWorkers(env: Env, settings: WorkerSettings, log: Logger): ServingContext {
  const { number, ownerId, first, databaseUrl, secrets, authSecrets } = settings;
  const lock = holdOwner(env.dataDir, ownerId);
  // The next start on this machine takes over its journal.
  process.once('disconnect', () => process.exit(1));
  logWhatIsPrinted(log);
  const known = new Map(secrets);
  const { db, operationsDb } = connect(databaseUrl, log);
  return {
    db,
    operationsDb,
    embedded: env.databaseUrl === null,
    upstreams: {
      envSecret: (name) => envSecret(name) ?? known.get(name) ?? null,
      secrets: [],
      close: async () => {},
    },
    authSecrets,
    worker: { number, ownerId },
    first,
    open: (server, ready) => {
      takeConnections(server);
      ready();
    },
    shut: () => tellPrimary({ gateway: 'closing' }),
    close: async () => {
      await operationsDb.close();
      await db.close();
      lock.release();
      forgetOwner(env.dataDir, ownerId);
    },
  };
}

/** Serves the connections that the primary hands over. */
function takeConnections(server: Server): void {
  // A server that listens nowhere would enforce no time limits on headers.
  server.emit('listening');
  hearPrimary((word, socket) => {
    if (word.gateway !== 'connection') return;
    tellPrimary({ gateway: 'accepted', id: word.id });
    if (socket === null) return;
    // As `node:http` does for connections that it accepts: a client may end its side and still get its answer.
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    server.emit('connection', socket);
    socket.resume();
  });
  tellPrimary({ gateway: 'ready' });
}
