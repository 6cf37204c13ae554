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

/** A running gateway, its database and its provider, as a test knows them. */
export interface Stack {
  readonly url: string;
  readonly db: Db;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly sandbox: SandboxProcess;
  /** Whether files beside this one use it: its books are verified once then, after the last of them. */
  readonly shared: boolean;
  /** Workspaces that were made by this file. */
  readonly workspaces: readonly string[];
  /** What the gateway has written to its log, errors alone; of a shared one since this file joined. */
  log(): string | Promise<string>;
  /** Makes a workspace of its own with $100 and no limits; settings as the verb takes them. */
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

/** A limit is asked of the database for every new key: tests of limits set their own. */
const unlimited = { rpm: null, tpm: null, concurrency: null };

type Place = Pick<Stack, 'url' | 'databaseUrl' | 'dataDir' | 'db' | 'sandbox'>;

/** @param alive whether the gateway runs: one that was killed is told nothing. */
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
