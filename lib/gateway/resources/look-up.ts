import pTimeout from 'p-timeout';
import type { Resource, ResourceKind } from '#lib/core/facts/resource';
import { nameOf } from '#lib/gateway/resources/memory';

/** A resource that somebody asks for. */
export interface ResourceName {
  readonly workspaceId: string;
  readonly kind: ResourceKind;
  readonly id: string;
}

/** Those of `names` that the database has: not deleted, not too old. */
export type ReadResources = (names: readonly ResourceName[]) => Promise<readonly Resource[]>;

/** Longest that a look-up waits for the database, ms. */
const timeoutMs = 2_000;
/** Another process may have kept it a moment ago: its drain runs every 200 ms. */
const retryMs = 300;

interface Waiting extends PromiseWithResolvers<Resource | null> {
  readonly name: ResourceName;
}

/**
 * Looks up in the database what memory does not have: look-ups of one turn share a statement, those of one
 * resource an answer; what is missing is asked for once more after 300 ms.
 */
export function createLookUp(read: ReadResources): (name: ResourceName) => Promise<Resource | null> {
  const running = new Map<string, Waiting>();
  let next: Waiting[] = [];

  const ask = async (batch: readonly Waiting[]): Promise<readonly Waiting[]> => {
    const found = await pTimeout(read(batch.map(({ name }) => name)), {
      milliseconds: timeoutMs,
      message: `the database did not answer within ${timeoutMs} ms`,
    });
    const byName = new Map(found.map((one) => [nameOf(one.workspaceId, one.kind, one.id), one]));
    return batch.filter((waiting) => {
      const { workspaceId, kind, id } = waiting.name;
      const resource = byName.get(nameOf(workspaceId, kind, id));
      if (resource) end(waiting, resource);
      return resource === undefined;
    });
  };

  const end = (waiting: Waiting, resource: Resource | null) => {
    const { workspaceId, kind, id } = waiting.name;
    running.delete(nameOf(workspaceId, kind, id));
    waiting.resolve(resource);
  };

  const run = async () => {
    const batch = next;
    next = [];
    try {
      const missing = await ask(batch);
      if (missing.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      for (const waiting of await ask(missing)) end(waiting, null);
    } catch (error) {
      for (const { name, reject } of batch) {
        running.delete(nameOf(name.workspaceId, name.kind, name.id));
        reject(error);
      }
    }
  };

  return (name) => {
    const key = nameOf(name.workspaceId, name.kind, name.id);
    const known = running.get(key);
    if (known) return known.promise;
    const waiting: Waiting = { name, ...Promise.withResolvers<Resource | null>() };
    running.set(key, waiting);
    if (next.length === 0) setImmediate(run);
    next.push(waiting);
    return waiting.promise;
  };
}
