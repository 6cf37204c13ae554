import type { CallDetail } from '#lib/control/operations/call/detail';
import { announce } from '#lib/gateway/snapshot/announce';
import type { Db } from '#lib/platform/data/db';
import type { createKey, createWorkspace } from '#tests/support/control/operate';
import type { SandboxProcess } from '#tests/support/provider/process';
import { awaitCalls } from '#tests/support/shared/await-calls';
import { insertKey, insertWorkspace } from '#tests/support/shared/rows';

/** Test secrets: they protect nothing. */
export const secrets = {
  NEXTAUTH_SECRET: 'a'.repeat(64),
  ENCRYPTION_KEY: 'b'.repeat(64),
  KEY_PEPPER: 'c'.repeat(64),
};

/** A running gateway, its database and its provider. */
export interface Stack {
  readonly url: string;
  readonly db: Db;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly sandbox: SandboxProcess;
  /** Whether other files use it at the same time: its books are then verified once, after the last file. */
  readonly shared: boolean;
  /** Workspaces that this file created. */
  readonly workspaces: readonly string[];
  /** Errors in the gateway's log; of a shared gateway, since this file joined. */
  log(): string | Promise<string>;
  /** Creates a workspace with $100 and no limits; settings as the operation takes them. */
  workspace(settings?: Partial<Parameters<typeof createWorkspace>[1]>): Promise<{ id: string; slug: string }>;
  key(
    workspace: string,
    settings?: Partial<Parameters<typeof createKey>[1]>,
  ): Promise<{ id: string; key: string }>;
  /** Tells the gateway that something was changed, as the command line does; waits until it knows. */
  announce(): Promise<void>;
  /** The call's row, as soon as it is in the log. */
  call(id: string): Promise<CallDetail>;
  close(): Promise<void>;
}

/** A new key with a limit makes the gateway query the database: tests of limits set their own. */
const unlimited = { rpm: null, tpm: null, concurrency: null };

type Place = Pick<Stack, 'url' | 'databaseUrl' | 'dataDir' | 'db' | 'sandbox'>;

/** @param alive whether the gateway runs: a killed one is not told. */
export function attach(place: Place, alive: () => boolean): Omit<Stack, 'log' | 'close' | 'shared'> {
  const { db, dataDir } = place;
  const workspaces: string[] = [];
  // A gateway on a busy machine may take longer to answer than the command line waits.
  const tell = async () => {
    for (let tries = 0; tries < 150 && alive(); tries += 1) if ((await announce(dataDir)) > 0) return;
  };
  return {
    ...place,
    workspaces,
    workspace: async (settings = {}) => {
      const created = await insertWorkspace(db, { ...unlimited, credit: '100', ...settings });
      workspaces.push(created.id);
      return created;
    },
    key: async (workspace, settings = {}) => {
      const created = await insertKey(db, workspace, settings, secrets.KEY_PEPPER);
      await tell();
      return created;
    },
    announce: tell,
    call: awaitCalls(db),
  };
}
