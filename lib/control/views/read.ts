import type { Pool } from 'pg';
import { reachOf } from '#lib/control/operations/reach';
import { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 3_000, statementMs: 20_000 };
const actor = { kind: 'operator', name: 'views', address: null } as const;

/** The scope of a workspace for what the gateway does for it by itself. @throws ControlRefused if it is gone. */
export async function scopeOfWorkspace(store: Store, workspaceId: string): Promise<WorkspaceScope> {
  const { scope } = await reachOf(store, actor, { reach: 'workspace', workspace: workspaceId });
  if (scope instanceof WorkspaceScope) return scope;
  throw new Error(`there is no workspace ${workspaceId}`);
}

/** Reads with a limit on each statement, after which the database gives up. */
export function readBounded<R>(pool: Pool, work: (store: Pick<Store, 'query'>) => Promise<R>): Promise<R> {
  return transact(pool, limits, (client) =>
    work({
      query: async <Row>(text: string, values: readonly unknown[]) =>
        (await client.query(text, [...values])).rows as Row[],
    }),
  );
}
