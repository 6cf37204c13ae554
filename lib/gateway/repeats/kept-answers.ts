import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { AnswerCopy, type CopyRoom } from '#lib/gateway/repeats/answer-copy';
import { type Identity, identify, type RequestFacts } from '#lib/gateway/repeats/identify';
import type { Wish } from '#lib/gateway/repeats/pure/wish';
import { type MadeAnswer, openAnswer, sealAnswer } from '#lib/gateway/repeats/sealed-answer';
import type { Clock } from '#lib/platform/clock';
import { queryWithin } from '#lib/platform/data/query-within';
import type { SealingKey } from '#lib/platform/sealing';

/** Memory for copies of answers that are being made, bytes. */
const ROOM_BYTES = 64 * 1_048_576;
const STATEMENT_MS = 5_000;
/** How often a claim of another process is looked at, ms. */
const POLL_MS = 200;
/** A claim that is not renewed for so long has ended, seconds; how often it is renewed, ms. */
const CLAIM_SECONDS = 20;
const RENEW_MS = 5_000;
/** After so many new answers of a workspace, its oldest ones beyond the bounds are deleted. */
const TRIM_EVERY = 200;

/** The most that is kept of a workspace (contract: repeats/bounds). */
export interface Bounds {
  readonly answers: number;
  readonly bytes: number;
}
const usualBounds: Bounds = { answers: 100_000, bytes: 1_073_741_824 };

/** An answer that can be repeated. */
export interface KeptAnswer extends MadeAnswer {
  readonly callId: string;
  /** When it was kept, ms since the epoch. */
  readonly atMs: number;
}

/** What a call looks for. */
export interface Wanted extends Identity {
  readonly kind: Wish['kind'];
  readonly workspaceId: string;
  readonly keyId: string;
  readonly callId: string;
  /** How old the answer may be, seconds. */
  readonly maxAgeSeconds: number;
  /** Whether its client has left. */
  isGone(): boolean;
  /** Whether the call may be given this answer. */
  usable(answer: MadeAnswer): boolean;
}

export type Found =
  | { readonly state: 'kept'; readonly answer: KeptAnswer }
  /** None is kept: this call makes it. */
  | { readonly state: 'claimed'; readonly claim: AnswerClaim }
  /** The name was used for another request. */
  | { readonly state: 'other' }
  /** Another call was still making it when the time was over. */
  | { readonly state: 'running' };

/** A repeated answer, for usage. */
export interface RepeatedCall {
  readonly callId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** When the call began, ms since the epoch. */
  readonly atMs: number;
  readonly kind: Wish['kind'];
  readonly answer: KeptAnswer;
}

/** A call of this process that makes or awaits an answer; others of the process wait for it. */
class Making {
  readonly request: Buffer;
  /** It has the claim: the database has no answer to another request in this place. */
  claimed = false;
  readonly ended: Promise<KeptAnswer | null>;
  end: (answer: KeptAnswer | null) => void = () => {};

  constructor(request: Buffer) {
    this.request = request;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }
}

interface Row {
  readonly call_id: string;
  readonly request: Buffer;
  readonly at: Date;
  readonly sealed: Buffer | null;
  /** Its call is making it. */
  readonly running: boolean;
  readonly current: boolean;
}

const look = `
  SELECT call_id::text, request, at, sealed, sealed IS NULL AND claimed_until > now() AS running,
    sealed IS NOT NULL AND keep_until > now() AND at > now() - make_interval(secs => $3) AS current
  FROM kept_answer WHERE workspace_id = $1::uuid AND name = $2`;

/** $8, $9: what was seen there, so that of several calls one gets it. */
const claim = `
  INSERT INTO kept_answer AS k (workspace_id, name, kind, key_id, request, call_id, at, claimed_until, keep_until)
  VALUES ($1::uuid, $2, $3, $4::uuid, $5, $6::uuid, now(), now() + make_interval(secs => $7),
    now() + make_interval(secs => $7))
  ON CONFLICT (workspace_id, name) DO UPDATE SET kind = excluded.kind, key_id = excluded.key_id,
    request = excluded.request, call_id = excluded.call_id, at = excluded.at,
    claimed_until = excluded.claimed_until, keep_until = excluded.keep_until, sealed = NULL, bytes = 0
  WHERE k.call_id = $8::uuid AND (k.sealed IS NOT NULL) = $9::boolean
    AND (k.claimed_until IS NULL OR k.claimed_until <= now())
  RETURNING call_id`;

const renew = `
  UPDATE kept_answer SET claimed_until = now() + make_interval(secs => $2),
    keep_until = now() + make_interval(secs => $2)
  WHERE call_id = ANY ($1::uuid[]) AND sealed IS NULL`;

const keep = `
  UPDATE kept_answer SET sealed = $4, bytes = $5, at = now(), claimed_until = NULL,
    keep_until = now() + make_interval(secs => $6)
  WHERE workspace_id = $1::uuid AND name = $2 AND call_id = $3::uuid AND sealed IS NULL RETURNING at`;

const forget = 'DELETE FROM kept_answer WHERE workspace_id = $1::uuid AND name = $2 AND call_id = $3::uuid';

const trim = `
  DELETE FROM kept_answer WHERE workspace_id = $1::uuid AND name IN (
    SELECT name FROM (
      SELECT name, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
      FROM kept_answer WHERE workspace_id = $1::uuid AND sealed IS NOT NULL
      WINDOW newest AS (ORDER BY at DESC, name)
    ) AS kept WHERE place > $2 OR total > $3)`;

const note = `
  INSERT INTO call_repeat (call_id, workspace_id, key_id, at, model, provider, kind, of_call_id, cost_nano)
  VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5, $6, $7, $8::uuid, $9) ON CONFLICT DO NOTHING`;

interface KeptAnswersParts {
  readonly pool: Pool;
  readonly sealingKey: SealingKey;
  /** Keys the digests; the same in all processes. */
  readonly secret: string;
  readonly clock: Clock;
  readonly bounds?: Bounds;
  readonly report: (error: unknown) => void;
}

/**
 * The store of answers that are repeated: for an `Idempotency-Key`, and as a cache. One call at a time makes an answer,
 * by a claim in the database that it renews; the others wait for it. Times are those of the database.
 */
export class KeptAnswers implements CopyRoom {
  readonly #parts: KeptAnswersParts;
  readonly #query: ReturnType<typeof queryWithin>;
  /** By name, what this process is making or waiting for. */
  readonly #making = new Map<string, Making>();
  readonly #claims = new Set<AnswerClaim>();
  /** By workspace: answers kept since its oldest were last deleted. */
  readonly #sinceTrim = new Map<string, number>();
  #free = ROOM_BYTES;
  #renewing: NodeJS.Timeout | null = null;

  constructor(parts: KeptAnswersParts) {
    this.#parts = parts;
    this.#query = queryWithin(parts.pool, STATEMENT_MS);
  }

  take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#free = Math.min(ROOM_BYTES, this.#free + bytes);
  }

  /** The digests by which the answer to a request is kept. */
  identify(wish: Wish, facts: RequestFacts): Identity {
    return identify(this.#parts.secret, wish, facts);
  }

  /**
   * The kept answer, or the claim to make it; while another call makes it, that is waited for.
   * @param untilMono how long to wait, monotonic ms.
   * @throws Error of the database.
   */
  async find(wanted: Wanted, untilMono: number): Promise<Found> {
    const place = wanted.name.toString('base64');
    for (;;) {
      const other = this.#making.get(place);
      if (other === undefined) return this.#findFirst(place, wanted, untilMono);
      const isSame = other.request.equals(wanted.request);
      if (other.claimed && !isSame) return { state: 'other' };
      const nowMono = this.#parts.clock.mono();
      if (wanted.isGone() || nowMono >= untilMono) return { state: 'running' };
      const answer = await this.#await(other, Math.min(untilMono, nowMono + POLL_MS));
      if (
        answer !== 'late' &&
        answer !== null &&
        isSame &&
        wanted.usable(answer) &&
        this.#isYoung(answer, wanted)
      ) {
        return { state: 'kept', answer };
      }
    }
  }

  /** Records that a call was answered with a kept answer (contract: repeats/figures). */
  async note({ callId, workspaceId, keyId, atMs, kind, answer }: RepeatedCall): Promise<void> {
    const { model, provider, costNano } = answer;
    await this.#query(note, [
      ...[callId, workspaceId, keyId, new Date(atMs), model, provider, kind],
      ...[answer.callId, costNano],
    ]);
  }

  /** Claims that are left end by themselves. */
  stop(): void {
    if (this.#renewing) clearInterval(this.#renewing);
    this.#renewing = null;
  }

  /** What a claim needs of the store; only `AnswerClaim` calls these. */
  async keepClaimed(one: AnswerClaim, answer: MadeAnswer, seconds: number): Promise<void> {
    const { workspaceId, name, callId } = one.wanted;
    let kept: KeptAnswer | null = null;
    try {
      const sealed = await sealAnswer(answer, this.#parts.sealingKey, one.wanted);
      const { rows } = await this.#query<{ at: Date }>(keep, [
        ...[workspaceId, name, callId, sealed, sealed.length, seconds],
      ]);
      const [row] = rows;
      if (row) kept = { ...answer, callId, atMs: row.at.getTime() };
      if (row) void this.#trim(workspaceId);
    } finally {
      this.#over(one, kept);
    }
  }

  async forgetClaimed(one: AnswerClaim): Promise<void> {
    const { workspaceId, name, callId } = one.wanted;
    try {
      await this.#query(forget, [workspaceId, name, callId]);
    } finally {
      this.#over(one, null);
    }
  }

  #over(one: AnswerClaim, answer: KeptAnswer | null): void {
    this.#claims.delete(one);
    if (this.#claims.size === 0) this.stop();
    this.#end(one.wanted.name.toString('base64'), one.making, answer);
  }

  #end(place: string, making: Making, answer: KeptAnswer | null): void {
    if (this.#making.get(place) === making) this.#making.delete(place);
    making.end(answer);
  }

  async #findFirst(place: string, wanted: Wanted, untilMono: number): Promise<Found> {
    const making = new Making(wanted.request);
    this.#making.set(place, making);
    let found: Found = { state: 'running' };
    try {
      for (;;) {
        found = await this.#look(wanted, making);
        if (found.state !== 'running' || wanted.isGone() || this.#parts.clock.mono() >= untilMono)
          return found;
        await pause(POLL_MS);
      }
    } finally {
      if (found.state !== 'claimed') this.#end(place, making, found.state === 'kept' ? found.answer : null);
    }
  }

  async #look(wanted: Wanted, making: Making): Promise<Found> {
    const { workspaceId, name, request, maxAgeSeconds } = wanted;
    const { rows } = await this.#query<Row>(look, [workspaceId, name, maxAgeSeconds]);
    const [row] = rows;
    if (row?.running || row?.current) {
      if (!row.request.equals(request)) return { state: 'other' };
      if (row.running) return { state: 'running' };
    }
    if (row?.current && row.sealed) {
      const answer = await this.#open(wanted, row, row.sealed);
      if (answer !== null && wanted.usable(answer)) return { state: 'kept', answer };
    }
    return (await this.#claim(wanted, row)) ? this.#claimed(wanted, making) : { state: 'running' };
  }

  /** null: it was sealed with a key that this process does not have. */
  async #open(wanted: Wanted, { call_id: callId, at }: Row, sealed: Buffer): Promise<KeptAnswer | null> {
    try {
      const answer = await openAnswer(sealed, this.#parts.sealingKey, wanted);
      return { ...answer, callId, atMs: at.getTime() };
    } catch (error) {
      this.#parts.report(error);
      return null;
    }
  }

  /** @param seen what is in its place. @returns false: another call was faster. */
  async #claim(wanted: Wanted, seen: Row | undefined): Promise<boolean> {
    const { workspaceId, name, kind, keyId, request, callId } = wanted;
    const { rowCount } = await this.#query(claim, [
      ...[workspaceId, name, kind, keyId, request, callId, CLAIM_SECONDS],
      ...[seen?.call_id ?? null, seen?.sealed != null],
    ]);
    return (rowCount ?? 0) > 0;
  }

  #claimed(wanted: Wanted, making: Making): Found {
    const one = new AnswerClaim(this, wanted, making);
    making.claimed = true;
    this.#claims.add(one);
    this.#renewing ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    return { state: 'claimed', claim: one };
  }

  #renew(): void {
    const ids = [...this.#claims].map(({ wanted }) => wanted.callId);
    this.#query(renew, [ids, CLAIM_SECONDS]).catch(this.#parts.report);
  }

  async #trim(workspaceId: string): Promise<void> {
    const kept = (this.#sinceTrim.get(workspaceId) ?? 0) + 1;
    this.#sinceTrim.set(workspaceId, kept % TRIM_EVERY);
    if (kept < TRIM_EVERY) return;
    const { answers, bytes } = this.#parts.bounds ?? usualBounds;
    await this.#query(trim, [workspaceId, answers, bytes]).catch(this.#parts.report);
  }

  /** @returns the answer, null if there will be none, or that the time is over. */
  async #await(other: Making, untilMono: number): Promise<KeptAnswer | null | 'late'> {
    const leftMs = untilMono - this.#parts.clock.mono();
    if (leftMs <= 0) return 'late';
    const timer = new AbortController();
    const late = pause(leftMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
    try {
      return await Promise.race([other.ended, late]);
    } finally {
      timer.abort();
    }
  }

  #isYoung({ atMs }: KeptAnswer, { maxAgeSeconds }: Wanted): boolean {
    return this.#parts.clock.now() - atMs < maxAgeSeconds * 1000;
  }
}

/** The claim of a call to make an answer. It ends with `keep` or `forget`, or when its process dies. */
export class AnswerClaim {
  readonly #store: KeptAnswers;
  readonly wanted: Wanted;
  readonly making: Making;
  readonly copy: AnswerCopy;

  constructor(store: KeptAnswers, wanted: Wanted, making: Making) {
    this.#store = store;
    this.wanted = wanted;
    this.making = making;
    this.copy = new AnswerCopy(store);
  }

  /**
   * Keeps the answer for so many seconds, unless another call has taken the claim over.
   * @throws Error of the database.
   */
  keep(answer: MadeAnswer, seconds: number): Promise<void> {
    return this.#store.keepClaimed(this, answer, seconds);
  }

  /** There is no answer, or it must not be repeated. @throws Error of the database. */
  forget(): Promise<void> {
    this.copy.close();
    return this.#store.forgetClaimed(this);
  }
}
