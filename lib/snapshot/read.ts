import type { Refusal } from '#lib/errors';
import type { KeySnapshot } from './snapshot';

/** Turns a presented secret into a snapshot: memory first, one shared load on a miss (decisions §10). */
export interface KeyReader {
  /**
   * @param secret the key as presented.
   * @returns its snapshot, or `invalid_api_key`, `auth_resolve_failed` or `hydrate_cooldown`; without a
   * promise when the answer is in memory.
   */
  read(secret: string): KeySnapshot | Refusal | Promise<KeySnapshot | Refusal>;
  /** Drops what is remembered of a key, a workspace (all its keys), or everything (change feed). */
  forget(what: { key: string } | { workspace: string } | 'unknown' | 'all'): void;
}
