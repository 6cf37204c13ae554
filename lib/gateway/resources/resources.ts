import pTimeout from 'p-timeout';
import {
  lastingKinds,
  type Resource,
  type ResourceKind,
  type ResourcePage,
  type Resources,
} from '#lib/core/facts/resource';
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
  /** Changes were missed: everything is looked up again. */
  clear(): void;
}

interface ResourcesOptions {
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'append'>;
  readonly read: ReadResources;
  readonly unclaimed: Resources['unclaimed'];
  /** @param sinceMs older ones are no longer kept. */
  readonly list: (workspaceId: string, page: ResourcePage, sinceMs: number) => ReturnType<Resources['list']>;
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
      if (clock.now() - resource.createdAtMs > keptMs && !lastingKinds.includes(kind)) return null;
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
        const news = resource.view !== undefined || !known?.safe || known.resource.tokens < resource.tokens;
        if (news) fresh.set(name, resource);
      }
      if (fresh.size === 0) return;
      const kept = [...fresh].map(([name, { view, viewedAtMs, ...plain }]) => {
        const remembered = remember(name, plain, false);
        const viewed = view === undefined || viewedAtMs === undefined ? {} : { view, viewedAtMs };
        return { remembered, row: { ...remembered.resource, ...viewed } };
      });
      await journal.append({ kind: 'keep', callId, resources: kept.map(({ row }) => row) });
      for (const { remembered } of kept) remembered.safe = true;
    },
    list: (workspaceId, page) =>
      options.list(workspaceId, page, lastingKinds.includes(page.kind) ? 0 : clock.now() - keptMs),
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

/** How long a resource can be named after it was made (contract: jobs/lifetime), ms. */
export const keptMs = 30 * 24 * 3_600_000;

/** The name of a resource in memory and in the change feed. */
export function nameOf(workspaceId: string, kind: ResourceKind, id: string): string {
  return `${workspaceId} ${kind} ${id}`;
}

interface Remembered {
  resource: Resource;
  /** When it was last in the database, or kept here; monotonic ms. */
  readMono: number;
  /** A SIGKILL can no longer lose it. */
  safe: boolean;
}

/** The resources that this process has met last, and those that it has seen deleted. */
interface ResourceMemory {
  find(name: string): Remembered | null;
  put(name: string, remembered: Remembered): void;
  /** Another process may know better: the next look-up asks the database. */
  drop(name: string): void;
  /** Deleted at the provider: unknown from now on. */
  bury(name: string): void;
  isBuried(name: string): boolean;
  clear(): void;
}

/** Bounded: what was not asked for longest goes first, of both kinds. */
function createResourceMemory(most: number): ResourceMemory {
  const known = new Map<string, Remembered>();
  const buried = new Set<string>();
  return {
    find: (name) => {
      const found = known.get(name);
      if (found === undefined) return null;
      known.delete(name);
      known.set(name, found);
      return found;
    },
    put: (name, remembered) => {
      known.delete(name);
      known.set(name, remembered);
      if (known.size > most) dropFirst(known);
    },
    drop: (name) => {
      known.delete(name);
    },
    bury: (name) => {
      known.delete(name);
      buried.add(name);
      if (buried.size > most) dropFirst(buried);
    },
    isBuried: (name) => buried.has(name),
    clear: () => known.clear(),
  };
}

function dropFirst(entries: { keys(): IterableIterator<string>; delete(name: string): boolean }): void {
  for (const first of entries.keys()) {
    entries.delete(first);
    return;
  }
}

/** A resource that somebody asks for. */
export interface ResourceName {
  readonly workspaceId: string;
  readonly kind: ResourceKind;
  readonly id: string;
}

/** Those of `names` that the database has: not deleted, not too old. */
type ReadResources = (names: readonly ResourceName[]) => Promise<readonly Resource[]>;

/** Longest that a look-up waits for the database, ms. */
const timeoutMs = 2_000;
/** Another process may have kept it a moment ago: its drain runs every 200 ms. */
const retryMs = 300;

interface Waiting extends PromiseWithResolvers<Resource | null> {
  readonly asked: ResourceName;
  /** By `nameOf`. */
  readonly name: string;
}

/**
 * Looks up in the database what memory does not have: look-ups of one turn share a statement, those of one
 * resource an answer; what is missing is asked for once more after 300 ms.
 */
function createLookUp(read: ReadResources): (asked: ResourceName) => Promise<Resource | null> {
  const running = new Map<string, Waiting>();
  let next: Waiting[] = [];

  /** @returns those that it did not find. */
  const ask = async (batch: readonly Waiting[]): Promise<readonly Waiting[]> => {
    const found = await pTimeout(read(batch.map(({ asked }) => asked)), {
      milliseconds: timeoutMs,
      message: `the database did not answer within ${timeoutMs} ms`,
    });
    const byName = new Map(found.map((one) => [nameOf(one.workspaceId, one.kind, one.id), one]));
    return batch.filter((waiting) => {
      const resource = byName.get(waiting.name);
      if (resource) end(waiting, resource);
      return resource === undefined;
    });
  };

  const end = ({ name, resolve }: Waiting, resource: Resource | null) => {
    running.delete(name);
    resolve(resource);
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
        running.delete(name);
        reject(error);
      }
    }
  };

  return (asked) => {
    const name = nameOf(asked.workspaceId, asked.kind, asked.id);
    const known = running.get(name);
    if (known) return known.promise;
    const waiting: Waiting = { asked, name, ...Promise.withResolvers<Resource | null>() };
    running.set(name, waiting);
    if (next.length === 0) setImmediate(run);
    next.push(waiting);
    return waiting.promise;
  };
}
