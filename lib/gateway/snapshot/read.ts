import pTimeout from 'p-timeout';
import { type Refusal, refusal, retryIn } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { createLookUpThrottle } from '#lib/gateway/snapshot/look-up-throttle';
import { createMemory, createUnknownKeys } from '#lib/gateway/snapshot/memory';
import type { Clock } from '#lib/platform/clock';
import { fingerprint, isWellFormedKey } from '#lib/platform/secrets';

/**
 * Turns a presented secret into a snapshot: memory first, one shared load on a miss
 * (contract: authentication/resolving).
 */
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

/** A reader that learns from the change feed how fresh its memory is. */
interface LiveKeyReader extends KeyReader {
  /** All changes up to this moment (monotonic ms) were delivered: what is in memory was in force then. */
  confirm(atMono: number): void;
}

interface KeyReaderOptions {
  readonly clock: Clock;
  /** HMAC of a secret under the server's pepper. */
  readonly hash: (secret: string) => Buffer;
  /** The key by that hash, from the database; null: unknown. Rejects when the database cannot answer. */
  readonly load: (hash: Buffer) => Promise<KeySnapshot | null>;
  /** Whether a key with that hash may exist; absent: every well-formed key counts as existing. */
  readonly isKnown?: (hash: Uint8Array) => boolean;
  /** A failed or timed-out look-up, for the log. */
  readonly report?: (error: unknown) => void;
  /**
   * How long memory is trusted after its load or the last `confirm`, ms. 15 min where the change feed
   * polls; 2 s in a process that may be frozen between requests.
   */
  readonly trustMs?: number;
  /** ms that the database may take, 2,000. */
  readonly timeoutMs?: number;
  /** Keys in memory, 50,000. */
  readonly most?: number;
}

/** While the database cannot answer, memory serves this long (contract: authentication/database-away). */
const staleMs = 15 * 60_000;
/** A key whose changes outrun this many loads is answered but not remembered. */
const mostReloads = 3;
const MOST_FINGERPRINTS = 4_096;

interface Flight {
  /** Ids that changed while the load ran; "?" any key, "*" everything. */
  readonly touched: Set<string>;
  result: Promise<KeySnapshot | Refusal>;
}

/**
 * The reader of one process: at most 50 look-ups at once and 200 a second, unknown keys kept 5 s. Keys that are
 * not known get three quarters of that at most: a flood of made-up ones leaves room for those that exist.
 */
export function createKeyReader(options: KeyReaderOptions): LiveKeyReader {
  const { clock, hash, load, trustMs = staleMs, timeoutMs = 2_000 } = options;
  const late = `the database did not answer within ${timeoutMs} ms`;
  const memory = createMemory(options.most ?? 50_000);
  const unknown = createUnknownKeys({ most: 10_000, keepMs: 5_000 });
  const throttle = createLookUpThrottle({ atOnce: 50, perSecond: 200 });
  const unlistedThrottle = createLookUpThrottle({ atOnce: 37, perSecond: 150 });
  const names = new Fingerprints();
  const flights = new Map<string, Flight>();
  let confirmedMono = Number.NEGATIVE_INFINITY;

  /** What is in memory, if it was in force at most `ageMs` ago. */
  function fromMemory(id: string, nowMono: number, ageMs: number): KeySnapshot | null {
    const entry = memory.find(id);
    if (entry === undefined) return null;
    return nowMono - Math.max(entry.loadedMono, confirmedMono) <= ageMs ? entry.snapshot : null;
  }

  function read(secret: string): KeySnapshot | Refusal | Promise<KeySnapshot | Refusal> {
    const id = names.of(secret);
    const nowMono = clock.mono();
    const snapshot = fromMemory(id, nowMono, trustMs);
    if (snapshot !== null) return usable(snapshot, clock);
    if (!isWellFormedKey(secret)) return malformed;
    if (unknown.has(id, nowMono)) return notFound;
    const running = flights.get(id);
    if (running !== undefined) return running.result;
    const digest = hash(secret);
    const unlisted = options.isKnown !== undefined && !options.isKnown(digest);
    const waitSeconds = enter(nowMono, unlisted);
    if (waitSeconds > 0) {
      const stale = fromMemory(id, nowMono, staleMs);
      return stale === null ? coolingDown(waitSeconds) : usable(stale, clock);
    }
    const flight: Flight = { touched: new Set(), result: Promise.resolve(notFound) };
    flights.set(id, flight);
    flight.result = lookUp(id, digest, flight.touched).finally(() => {
      throttle.done();
      if (unlisted) unlistedThrottle.done();
    });
    return flight.result;
  }

  /** @returns seconds to wait, or 0: a look-up may start. */
  function enter(nowMono: number, unlisted: boolean): number {
    const waitSeconds = unlisted ? unlistedThrottle.enter(nowMono) : 0;
    if (waitSeconds > 0) return waitSeconds;
    const shared = throttle.enter(nowMono);
    if (shared > 0 && unlisted) unlistedThrottle.done();
    return shared;
  }

  async function lookUp(id: string, digest: Buffer, touched: Set<string>): Promise<KeySnapshot | Refusal> {
    try {
      for (let round = 1; ; round++) {
        touched.clear();
        const startedMono = clock.mono();
        const found = await pTimeout(load(digest), { milliseconds: timeoutMs, message: late });
        throttle.succeeded();
        // A change that came while the load ran may be missing from it: load again, never keep it.
        const moved = isTouched(found, touched);
        if (moved && round < mostReloads) continue;
        if (!moved) keep(id, found, startedMono);
        return found === null ? notFound : usable(found, clock);
      }
    } catch (error) {
      const nowMono = clock.mono();
      throttle.failed(nowMono);
      options.report?.(error);
      const stale = fromMemory(id, nowMono, staleMs);
      return stale === null ? unresolved : usable(stale, clock);
    } finally {
      flights.delete(id);
    }
  }

  function keep(id: string, found: KeySnapshot | null, startedMono: number): void {
    if (found !== null) {
      memory.put(id, found, startedMono);
      return;
    }
    const earlier = memory.find(id);
    if (earlier !== undefined) memory.drop(earlier.snapshot.key.id);
    unknown.add(id, startedMono);
  }

  function forget(what: { key: string } | { workspace: string } | 'unknown' | 'all'): void {
    const marks = what === 'all' ? ['*'] : what === 'unknown' ? ['?'] : marksOf(what);
    for (const flight of flights.values()) for (const mark of marks) flight.touched.add(mark);
    if (what === 'all') memory.clear();
    else if (what !== 'unknown') memory.drop('key' in what ? what.key : what.workspace);
    // A changed key may be a new one, or have a new secret: it must not stay unknown.
    if (typeof what === 'string' || 'key' in what) unknown.clear();
  }

  return {
    read,
    forget,
    confirm: (atMono) => {
      confirmedMono = Math.max(confirmedMono, atMono);
    },
  };
}

/** Digests of the secrets that came last: most calls carry one that was just seen. */
class Fingerprints {
  #known = new Map<string, string>();

  of(secret: string): string {
    const known = this.#known.get(secret);
    if (known !== undefined) return known;
    const made = fingerprint(secret);
    if (!isWellFormedKey(secret)) return made;
    // Full, mostly of keys that are no longer sent: the next calls fill it again.
    if (this.#known.size >= MOST_FINGERPRINTS) this.#known = new Map();
    this.#known.set(secret, made);
    return made;
  }
}

function marksOf(what: { key: string } | { workspace: string }): readonly string[] {
  return 'key' in what ? [what.key, '?'] : [what.workspace];
}

function isTouched(found: KeySnapshot | null, touched: ReadonlySet<string>): boolean {
  if (touched.size === 0) return false;
  if (touched.has('*')) return true;
  return found === null ? touched.has('?') : touched.has(found.key.id) || touched.has(found.workspace.id);
}

/**
 * Refuses revoked keys and secrets that were rotated out (contract: authentication/states, authentication/rotation).
 */
function usable(snapshot: KeySnapshot, clock: Clock): KeySnapshot | Refusal {
  if (snapshot.key.status === 'revoked') return revoked;
  if (snapshot.secretUntilMs !== null && clock.now() >= snapshot.secretUntilMs) return rotatedOut;
  return snapshot;
}

const malformed = refusal(
  'invalid_api_key',
  'The API key is not a key of this gateway; copy all of it, as it was shown when it was created.',
);
const notFound = refusal('invalid_api_key', 'The API key is unknown; create one in the workspace console.');
const revoked = refusal(
  'invalid_api_key',
  'The API key was revoked; create a new one in the workspace console.',
);
const rotatedOut = refusal(
  'invalid_api_key',
  'The API key was replaced by a rotation and its overlap has ended; use the new key.',
);
const unresolved = refusal(
  'auth_resolve_failed',
  'The API key could not be looked up, because the database did not answer; retry with backoff.',
);

/** @param waitSeconds whole seconds, 1 to 30. */
function coolingDown(waitSeconds: number): Refusal {
  return refusal(
    'hydrate_cooldown',
    `Look-ups of API keys are paused for a moment. ${retryIn(waitSeconds)}`,
    { retryAfterSeconds: waitSeconds },
  );
}
