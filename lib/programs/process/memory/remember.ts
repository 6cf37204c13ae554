import { ownKeyRulesOf } from '#lib/core/facts/own-key-rules';
import {
  forgetResource,
  listResources,
  readResources,
  unclaimedResources,
} from '#lib/gateway/resources/database/stored';
import { createResources } from '#lib/gateway/resources/resources';
import type { Journal } from '#lib/gateway/settlement/pure/entry';
import { createChangeFeed } from '#lib/gateway/snapshot/changes';
import { listenForNotices } from '#lib/gateway/snapshot/database/notices';
import { createHashLoader, createKnownHashes } from '#lib/gateway/snapshot/known-hashes';
import { loadKey } from '#lib/gateway/snapshot/load';
import { loadOwnKey } from '#lib/gateway/snapshot/own-keys';
import { createKeyReader } from '#lib/gateway/snapshot/read';
import type { Clock } from '#lib/platform/clock';
import type { Change } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';
import { sealingKeysOf } from '#lib/platform/sealing';
import { hashKey } from '#lib/platform/secrets';
import { followCatalogue } from '#lib/programs/process/memory/follow-catalogue';

/** How long a process that may be frozen between two calls trusts keys in memory without a poll, ms. */
const FROZEN_TRUST_MS = 2_000;

export interface MemoryParts {
  readonly env: Pick<
    Env,
    | 'encryptionKey'
    | 'oldEncryptionKeys'
    | 'keyPepper'
    | 'databaseUrl'
    | 'settlement'
    | 'ownKeys'
    | 'ownKeyFeePoints'
  >;
  readonly db: Db;
  readonly clock: Clock;
  readonly journal: Journal;
  envSecret(name: string): string | undefined;
  /** Another process has requested a lease back. */
  recall(kind: 'workspace' | 'key', id: string): void;
  report(error: unknown): void;
  /** Called after each poll that the database answered. */
  databaseAnswers(): void;
}

/** The process's copy of the database, kept current by the change feed (contract: durability/change-feed). */
export async function remember(parts: MemoryParts) {
  const { env, db, clock, report } = parts;
  const sources = {
    envSecret: (name: string) => parts.envSecret(name),
    sealingKey: sealingKeysOf(env),
    report,
  };
  const ownKeys = { rules: ownKeyRulesOf(env), sealingKey: sources.sealingKey, report };
  const catalogue = await followCatalogue(db.pool, sources);
  const knownHashes = createKnownHashes(db.pool);
  const hashLoader = createHashLoader(knownHashes, report);
  const keys = createKeyReader({
    clock,
    isKnown: (hash) => knownHashes.has(hash),
    hash: (secret) => hashKey(secret, env.keyPepper),
    load: (hash) => loadKey(db.pool, hash, ownKeys),
    report,
    ...(env.settlement === 'database' && { trustMs: FROZEN_TRUST_MS }),
  });
  const resources = createResources({
    clock,
    journal: parts.journal,
    read: (names) => readResources(db.pool, names),
    unclaimed: (workspaceId, shown) => unclaimedResources(db.pool, workspaceId, shown),
    list: (workspaceId, page, sinceMs) => listResources(db.pool, workspaceId, page, sinceMs),
    forget: (resource) => forgetResource(db.pool, resource),
  });

  const apply = async (changes: readonly Change[]) => {
    for (const change of changes) {
      if (change.kind === 'key') {
        keys.forget({ key: change.subject });
        keys.forget('unknown');
      } else if (change.kind === 'workspace' || change.kind === 'policy') {
        keys.forget({ workspace: change.subject });
      } else if (change.kind === 'lease') {
        recallLease(change.subject);
      } else if (change.kind === 'resource') {
        resources.drop(change.subject);
      }
    }
    const changedKeys = changes.flatMap(({ kind, subject }) => (kind === 'key' ? [subject] : []));
    if (changedKeys.length > 0) void hashLoader.load(changedKeys);
    if (changes.some((change) => change.kind === 'catalogue')) await catalogue.load();
  };
  const recallLease = (subject: string) => {
    const [kind, id] = subject.split(':');
    if (id !== undefined && (kind === 'workspace' || kind === 'key')) parts.recall(kind, id);
  };
  const feed = createChangeFeed({
    pool: db.pool,
    mono: () => clock.mono(),
    onChange: apply,
    onLost: async () => {
      keys.forget('all');
      void hashLoader.load(null);
      resources.clear();
      await catalogue.load();
    },
    onPolled: (startedAtMs) => {
      keys.confirm(startedAtMs);
      parts.databaseAnswers();
    },
    onError: report,
  });
  await feed.start();
  void hashLoader.load(null);
  // The single session of the embedded database sends no notices; processes on its machine notify each other.
  const notices = env.databaseUrl === null ? null : listenForNotices(env.databaseUrl, () => feed.poll());

  return {
    keys,
    resources,
    catalogue: catalogue.inForce,
    ownKey: (workspaceId: string, name: string) => loadOwnKey(db.pool, { workspaceId, name }, ownKeys),
    feed,
    close: async () => {
      catalogue.stop();
      hashLoader.stop();
      await notices?.close();
      await feed.close();
    },
  };
}
