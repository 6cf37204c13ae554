import { setTimeout as pause } from 'node:timers/promises';
import { ContentCopy, type CopyRoom } from '#lib/gateway/content/copy';
import { Masking } from '#lib/gateway/content/masks/masking';
import { type ContentPlace, type KeptFacts, NotKept, type SealedContent } from '#lib/gateway/content/places';
import type { Masks } from '#lib/gateway/content/pure/masks/mask';
import { Rest } from '#lib/gateway/content/rest';
import { contentOf, type KeptContent, sealContent } from '#lib/gateway/content/stored';
import type { SealingKey } from '#lib/platform/sealing';

/** Memory for copies of running calls and for what waits to be written, bytes (contract: content/beside). */
const ROOM_BYTES = 64 * 1_048_576;
/** Calls of one batch, and how much they may have. */
const BATCH = 32;
const BATCH_BYTES = 8 * 1_048_576;
/** How long a stop waits for what is not yet written, ms. */
const STOP_MS = 2_000;
/** Between two tries while the place does not take it, ms. */
const AGAIN_MS = 1_000;
/** Between two reports of that, ms. */
const TELL_MS = 60_000;

/** What is known of a call whose content is kept. */
export interface ContentFacts extends KeptFacts {
  /** What is masked before it is kept; absent: nothing. */
  readonly masks?: Masks;
}

interface Waiting {
  readonly facts: ContentFacts;
  readonly copy: ContentCopy;
  /** Its masked content; null: nothing is masked. */
  readonly masked: KeptContent | null;
}

/**
 * Keeps the content of calls beside them: copies wait in memory, and are written in batches to the database or an
 * object store. No call waits for it; what finds no room is lost and counted (contract: content/beside).
 */
export class ContentKeeper implements CopyRoom {
  readonly #place: ContentPlace;
  readonly #key: SealingKey;
  readonly #report: (error: unknown) => void;
  readonly #roomBytes: number;
  #free: number;
  readonly #waiting: Waiting[] = [];
  readonly #masking = new Masking();
  readonly #rest = new Rest();
  /** Calls whose content is being masked. */
  readonly #unmasked = new Set<Promise<void>>();
  /** Batches that are written, one after another in each lane. */
  readonly #writing = new Set<Promise<void>>();
  #lanes = 0;
  #toldMono = Number.NEGATIVE_INFINITY;
  #answers: boolean | null = null;
  #stopped = false;
  #kept = 0;
  #lost = 0;

  constructor(
    place: ContentPlace,
    key: SealingKey,
    report: (error: unknown) => void,
    roomBytes = ROOM_BYTES,
  ) {
    this.#place = place;
    this.#key = key;
    this.#report = report;
    this.#roomBytes = roomBytes;
    this.#free = roomBytes;
  }

  /** Calls whose content was written and calls whose content was lost, since the start. */
  counts(): { readonly kept: number; readonly lost: number } {
    return { kept: this.#kept, lost: this.#lost };
  }

  /** Whether the place took what was last written; null: nothing was written yet. */
  answers(): boolean | null {
    return this.#answers;
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
    if (this.#lanes >= this.#place.lanes) return;
    // Another lane is of use only if there is a whole batch.
    if (this.#lanes > 0 && this.#waiting.length < BATCH) return;
    this.#lanes += 1;
    const lane = this.#writeAll().finally(() => this.#writing.delete(lane));
    this.#writing.add(lane);
  }

  #lose(copy: ContentCopy): void {
    copy.free();
    this.#lost += 1;
  }

  /** Writes what waits, within 2 seconds; the rest is lost. */
  async stop(): Promise<void> {
    const written = Promise.all(this.#unmasked).then(() => Promise.all(this.#writing));
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
      const kept = await this.#send(batch).catch((error: unknown) => {
        this.#report(error);
        return 0;
      });
      this.#kept += kept;
      this.#lost += batch.length - kept;
      for (const { copy } of batch) copy.free();
    }
    // In the same turn as the last look: what comes next begins a lane of its own.
    this.#lanes -= 1;
  }

  /**
   * Tries until the place takes it; meanwhile, the content of later calls is lost when the room is used up.
   * @returns how many were kept; 0: the process stops. @throws NotKept
   */
  async #send(batch: readonly Waiting[]): Promise<number> {
    const write = this.#place.begin(await this.#sealed(batch));
    while (!this.#stopped) {
      try {
        const kept = await write();
        this.#answers = true;
        return kept;
      } catch (error) {
        if (error instanceof NotKept) throw error;
        this.#answers = false;
        this.#tell(error);
        await pause(AGAIN_MS, undefined, { ref: false });
      }
    }
    return 0;
  }

  /** Once a minute, however many batches fail. */
  #tell(error: unknown): void {
    const nowMono = performance.now();
    if (nowMono < this.#toldMono + TELL_MS) return;
    this.#toldMono = nowMono;
    this.#report(error);
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

  async #sealed(batch: readonly Waiting[]): Promise<SealedContent[]> {
    const all: SealedContent[] = [];
    for (const { facts, copy, masked } of batch) {
      const fromMono = performance.now();
      const content = masked ?? (await contentOf({ request: copy.request(), answer: copy.answer() }));
      all.push({ facts, sealed: await sealContent(facts, content, this.#key) });
      await this.#rest.after(performance.now() - fromMono);
    }
    return all;
  }
}
