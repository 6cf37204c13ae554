import type { Resource, Resources } from '#lib/core/facts/resource';
import { createLookUp, type ReadResources } from '#lib/gateway/resources/look-up';
import { createResourceMemory, keptMs, nameOf, type Remembered } from '#lib/gateway/resources/memory';
import { isStorable } from '#lib/gateway/resources/row';
import type { Journal } from '#lib/gateway/settlement/pure/entry';
import type { Clock } from '#lib/platform/clock';

/** What a background response used is known when it has ended, which another process may see: ms. */
const untoldMs = 2_000;
/**
 * More than any answer shows. A record of hundreds of thousands takes the drain longer than a transaction
 * may last, and everything behind it would wait for ever.
 */
const mostAtOnce = 10_000;

/** The resources of one process; the change feed reports what others have deleted. */
export interface LiveResources extends Resources {
  /** Deleted elsewhere (the subject of a change `resource`). */
  drop(name: string): void;
  /** Changes were missed: everything is asked for anew. */
  clear(): void;
}

export interface ResourcesOptions {
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'append'>;
  readonly read: ReadResources;
  readonly unclaimed: Resources['unclaimed'];
  /** Marks it deleted for every process, whether its row is there yet or not. */
  readonly forget: (resource: Resource) => Promise<void>;
  /** Resources in memory, 50,000. */
  readonly most?: number;
}

/**
 * Memory first, then the database; what is new goes through the journal
 * (contract: jobs/look-up, jobs/recorded-first).
 */
export function createResources(options: ResourcesOptions): LiveResources {
  const { clock, journal } = options;
  const memory = createResourceMemory(options.most ?? 50_000);
  const lookUp = createLookUp(options.read);
  /** Counts what was dropped: a look-up that ran meanwhile may have read what is no more. */
  let drops = 0;

  const remember = (name: string, resource: Resource, safe: boolean): Remembered => {
    const known = memory.find(name)?.resource;
    const tokens = Math.max(known?.tokens ?? 0, resource.tokens);
    const merged = { ...(known ?? resource), tokens };
    const remembered = { resource: merged, readMono: clock.mono(), safe };
    memory.put(name, remembered);
    return remembered;
  };

  const readStored = async (name: string, asked: Parameters<typeof lookUp>[0]): Promise<Resource | null> => {
    const dropsBefore = drops;
    const found = await lookUp(asked);
    if (memory.isBuried(name)) return null;
    if (found && drops === dropsBefore) return remember(name, found, true).resource;
    return found;
  };

  return {
    find: (workspaceId, kind, id) => {
      if (!isStorable({ id })) return null;
      const name = nameOf(workspaceId, kind, id);
      if (memory.isBuried(name)) return null;
      const known = memory.find(name);
      if (known === null) return readStored(name, { workspaceId, kind, id });
      const { resource, readMono } = known;
      if (clock.now() - resource.createdAtMs > keptMs) return null;
      const unreported = resource.job && resource.kind === 'response' && resource.tokens === 0;
      if (!unreported || clock.mono() - readMono < untoldMs) return resource;
      return readStored(name, { workspaceId, kind, id }).then(
        (found) => found ?? resource,
        () => resource,
      );
    },
    unclaimed: options.unclaimed,
    keep: async (callId, resources) => {
      if (resources.length > mostAtOnce) {
        throw new Error(`an answer shows ${resources.length} things to keep, more than ${mostAtOnce}`);
      }
      const fresh = new Map<string, Resource>();
      for (const resource of resources) {
        const name = nameOf(resource.workspaceId, resource.kind, resource.id);
        if (!isStorable(resource) || memory.isBuried(name)) continue;
        const known = memory.find(name);
        if (!known?.safe || known.resource.tokens < resource.tokens) fresh.set(name, resource);
      }
      if (fresh.size === 0) return;
      const kept = [...fresh].map(([name, resource]) => remember(name, resource, false));
      await journal.append({ kind: 'keep', callId, resources: kept.map(({ resource }) => resource) });
      for (const one of kept) one.safe = true;
    },
    forget: (resource) => {
      memory.bury(nameOf(resource.workspaceId, resource.kind, resource.id));
      return options.forget(resource);
    },
    drop: (name) => {
      drops += 1;
      memory.drop(name);
    },
    clear: () => {
      drops += 1;
      memory.clear();
    },
  };
}
