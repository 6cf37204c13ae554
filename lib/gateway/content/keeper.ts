import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { ContentCopy, type CopyRoom } from '#lib/gateway/content/copy';
import { Masking } from '#lib/gateway/content/masks/masking';
import type { Masks } from '#lib/gateway/content/pure/masks/mask';
import { type ContentOwner, contentOf, type KeptContent, sealContent } from '#lib/gateway/content/stored';
import { queryWithin } from '#lib/platform/data/query-within';
import type { SealingKey } from '#lib/platform/sealing';

/** Memory for copies of running calls and for what waits to be written, bytes (contract: content/beside). */
const ROOM_BYTES = 64 * 1_048_576;
/** Calls of one statement, and how much they may have. */
const BATCH = 32;
const BATCH_BYTES = 8 * 1_048_576;
/** How long a stop waits for what is not yet written, ms. */
const STOP_MS = 2_000;
const STATEMENT_MS = 5_000;
/** Between two tries while the database does not take it, ms. */
const AGAIN_MS = 1_000;

/** What is known of a call whose content is kept. */
export interface ContentFacts extends ContentOwner {
  readonly keyId: string;
  /** When the call began, ms since the epoch. */
  readonly atMs: number;
  /** Until when it may be read, ms since the epoch. */
  readonly keepUntilMs: number;
  /** What is masked before it is kept; absent: nothing. */
  readonly masks?: Masks;
}

interface Waiting {
  readonly facts: ContentFacts;
  readonly copy: ContentCopy;
  /** Its masked content; null: nothing is masked. */
  readonly masked: KeptContent | null;
}

const insert = `
  INSERT INTO call_content (call_id, workspace_id, key_id, at, keep_until, sealed)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::bytea[])
  ON CONFLICT DO NOTHING`;

/**
 * Keeps the content of calls beside them: copies wait in memory, and are written to the database one batch after
 * another. No call waits for it; what finds no room is lost and counted (contract: content/beside).
 */
export class ContentKeeper implements CopyRoom {
  readonly #pool: Pool;
  readonly #key: SealingKey;
  readonly #report: (error: unknown) => void;
  readonly #roomBytes: number;
  #free: number;
  readonly #waiting: Waiting[] = [];
  readonly #masking = new Masking();
  /** Calls whose content is being masked. */
  readonly #unmasked = new Set<Promise<void>>();
  #writing: Promise<void> | null = null;
  #stopped = false;
  #kept = 0;
  #lost = 0;

  constructor(pool: Pool, key: SealingKey, report: (error: unknown) => void, roomBytes = ROOM_BYTES) {
    this.#pool = pool;
    this.#key = key;
    this.#report = report;
    this.#roomBytes = roomBytes;
    this.#free = roomBytes;
  }

  /** Calls whose content was written and calls whose content was lost, since the start. */
  counts(): { readonly kept: number; readonly lost: number } {
    return { kept: this.#kept, lost: this.#lost };
  }

  take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#free = Math.min(this.#roomBytes, this.#free + bytes);
  }

  /** Begins the copies of a call. */
  copyOf(contentType: string, body: Uint8Array): ContentCopy {
    return new ContentCopy(this, contentType, body);
  }

  /** Keeps the content of an ended call, soon. */
  keep(copy: ContentCopy, facts: ContentFacts): void {
    if (copy.lost || this.#stopped) this.#lose(copy);
    else if (facts.masks === undefined) this.#write({ facts, copy, masked: null });
    else {
      const masked = this.#mask(copy, facts, facts.masks).finally(() => this.#unmasked.delete(masked));
      this.#unmasked.add(masked);
    }
  }

  /** What cannot be masked is not kept (contract: content/masks). */
  async #mask(copy: ContentCopy, facts: ContentFacts, masks: Masks): Promise<void> {
    try {
      const { request, answer } = await contentOf({ request: copy.request(), answer: copy.answer() });
      const masked = await this.#masking.mask(facts.workspaceId, { masks, request, answer });
      if (masked === null || this.#stopped) this.#lose(copy);
      else {
        const content = {
          request: { ...request, ...masked.request },
          answer: { ...answer, ...masked.answer },
        };
        this.#write({ facts, copy, masked: content });
      }
    } catch (error) {
      this.#report(error);
      this.#lose(copy);
    }
  }

  #write(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#writing ??= this.#writeAll();
  }

  #lose(copy: ContentCopy): void {
    copy.free();
    this.#lost += 1;
  }

  /** Writes what waits, within 2 seconds; the rest is lost. */
  async stop(): Promise<void> {
    const written = Promise.all(this.#unmasked).then(() => this.#writing);
    await Promise.race([written, pause(STOP_MS)]);
    this.#stopped = true;
    for (const { copy } of this.#waiting.splice(0)) this.#lose(copy);
    await this.#masking.stop();
  }

  async #writeAll(): Promise<void> {
    // What ends in the same moment goes in one statement.
    await pause(50);
    while (this.#waiting.length > 0 && !this.#stopped) {
      const batch = this.#nextBatch();
      const written = await this.#send(batch).catch((error: unknown) => {
        this.#report(error);
        return false;
      });
      if (written) this.#kept += batch.length;
      else this.#lost += batch.length;
      for (const { copy } of batch) copy.free();
    }
    this.#writing = null;
  }

  /**
   * Tries until the database takes it; meanwhile, the content of later calls is lost when the room is used up.
   * @returns false: the process stops. @throws what the database says about the rows themselves.
   */
  async #send(batch: readonly Waiting[]): Promise<boolean> {
    const values = await this.#rows(batch);
    for (let told = false; !this.#stopped; told = true) {
      try {
        await queryWithin(this.#pool, STATEMENT_MS)(insert, values);
        return true;
      } catch (error) {
        if (isOfRows(error)) throw error;
        if (!told) this.#report(error);
        await pause(AGAIN_MS, undefined, { ref: false });
      }
    }
    return false;
  }

  #nextBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { copy } of this.#waiting) {
      bytes += copy.bytes;
      if (count > 0 && (count >= BATCH || bytes > BATCH_BYTES)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #rows(batch: readonly Waiting[]): Promise<readonly unknown[]> {
    const sealed: Buffer[] = [];
    for (const { facts, copy, masked } of batch) {
      const content = masked ?? (await contentOf({ request: copy.request(), answer: copy.answer() }));
      sealed.push(await sealContent(facts, content, this.#key));
    }
    const column = <T>(of: (facts: ContentFacts) => T) => batch.map(({ facts }) => of(facts));
    return [
      column(({ callId }) => callId),
      column(({ workspaceId }) => workspaceId),
      column(({ keyId }) => keyId),
      column(({ atMs }) => new Date(atMs)),
      column(({ keepUntilMs }) => new Date(keepUntilMs)),
      sealed,
    ];
  }
}

/** Bad data or a violated constraint: trying again would not help. */
function isOfRows(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^2[23]/.test(code);
}
