import { isRefusal, type Refusal } from '#lib/core/errors';
import type { KeySnapshot, StoredLimits } from '#lib/core/facts/snapshot';
import type { Claim, ClaimRequest } from '#lib/gateway/admission/claim';
import type { Lease } from '#lib/gateway/admission/funds/lease-book';
import { type LimitBook, numbersOf } from '#lib/gateway/admission/limit-book';
import type { OpenCalls, ShareUse } from '#lib/gateway/admission/open-calls';
import { checkLimits, decideLimits } from '#lib/gateway/admission/pure/decide';
import type { Take } from '#lib/gateway/limits/pure/permits/permits';
import type { Pass, SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Clock } from '#lib/platform/clock';

/**
 * What pays for a call: leases of this process, a row in PostgreSQL (with a share: one that would be there if the
 * database answered), or nothing is to pay.
 */
export type Means =
  | { readonly funding: 'lease'; readonly lease: Lease; readonly keyLease: Lease | null }
  | { readonly funding: 'row'; readonly share: ShareUse | null }
  | { readonly funding: 'none' };

export const free: Means = { funding: 'none' };
export const byRow: Means = { funding: 'row', share: null };

/**
 * Steps 13 and 14 of admission (contract: admission/order); then everything is booked at once. Limits that processes
 * share are asked for before the money, but a refusal for money (steps 11 and 12) is the one that is answered.
 */
export class LimitGate {
  readonly #clock: Clock;
  readonly #limits: LimitBook;
  readonly #calls: OpenCalls;
  readonly #shared: SharedLimits | null;

  /** @param shared limits that other processes share; null: this process counts alone. */
  constructor(clock: Clock, limits: LimitBook, calls: OpenCalls, shared: SharedLimits | null = null) {
    this.#clock = clock;
    this.#limits = limits;
    this.#calls = calls;
    this.#shared = shared;
  }

  /**
   * Asks the limits that are shared, where there are any; then decides. What they gave to a call that is refused in
   * the end goes back.
   */
  afterShared(request: ClaimRequest, decide: Decide): Claim | Refusal | Promise<Claim | Refusal> {
    if (!this.#shared || checkLimits(request.snapshot)) return decide(request);
    const { need, tokens, placed, snapshot } = request;
    const take: Take = {
      requests: placed ? 0 : 1,
      tokens: need === 'generate' ? tokens : null,
      slot: need !== 'models' && !placed,
    };
    const pass = this.#shared.pass(take, snapshot.key, snapshot.workspace);
    if (!(pass instanceof Promise)) return this.#decideBy(pass, request, decide);
    return pass.then((late) => this.#decideBy(late, request, decide));
  }

  #decideBy(pass: Pass, request: ClaimRequest, decide: Decide): ReturnType<Decide> {
    const decided = decide({ ...request, pass });
    if (!(decided instanceof Promise)) return this.#kept(pass, decided);
    return decided.then(
      (late) => this.#kept(pass, late),
      (error: unknown) => {
        this.#shared?.end(pass, 0, true);
        throw error;
      },
    );
  }

  #kept<Decided extends Claim | Refusal | null>(pass: Pass, decided: Decided): Decided {
    if (isRefusal(decided)) this.#shared?.end(pass, 0, true);
    return decided;
  }

  /** What the windows of this process are bound by: the limits, unless a store decides by them. */
  #bounds(limits: StoredLimits, pass: Pass | undefined): StoredLimits {
    return pass && this.#shared ? this.#shared.bounds(pass, limits) : limits;
  }

  /** Holds an RPM unit and the slots for a call. @returns a refusal, with nothing held; or null. */
  place(callId: string, snapshot: KeySnapshot): Refusal | null | Promise<Refusal | null> {
    const wrong = checkLimits(snapshot);
    if (wrong || !this.#shared) return wrong ?? this.#place(callId, snapshot);
    const pass = this.#shared.pass(onePlace, snapshot.key, snapshot.workspace);
    if (!(pass instanceof Promise)) return this.#kept(pass, this.#place(callId, snapshot, pass));
    return pass.then((late) => this.#kept(late, this.#place(callId, snapshot, late)));
  }

  #place(callId: string, snapshot: KeySnapshot, pass?: Pass): Refusal | null {
    const refusedThere = refusedBy(pass);
    if (refusedThere) return refusedThere;
    const nowMono = this.#clock.mono();
    const key = this.#limits.of(snapshot.key.id, this.#bounds(snapshot.key.limits, pass));
    const workspace = this.#limits.of(snapshot.workspace.id, this.#bounds(snapshot.workspace.limits, pass));
    if (!key.fits('rate', 0, nowMono) || !workspace.fits('rate', 0, nowMono)) {
      const refused = decideLimits(key.waits('rate', 0, nowMono), workspace.waits('rate', 0, nowMono));
      if (refused) return refused;
    }
    key.place();
    workspace.place();
    if (pass) this.#shared?.place(pass);
    this.#calls.place(callId, { key, workspace, pass: pass ?? null });
    return null;
  }

  /** @returns a refusal, with nothing booked; or the claim. */
  admit(request: ClaimRequest, means: Means): Claim | Refusal {
    const { snapshot, need, tokens, holdNano, pass } = request;
    const wrong = checkLimits(snapshot) ?? refusedBy(pass);
    if (wrong) return wrong;
    const nowMono = this.#clock.mono();
    const key = this.#limits.of(snapshot.key.id, this.#bounds(snapshot.key.limits, pass));
    const workspace = this.#limits.of(snapshot.workspace.id, this.#bounds(snapshot.workspace.limits, pass));
    let placed: Pass | null = null;
    if (request.placed) {
      const fits =
        need !== 'generate' || (key.fitsTokens(tokens, nowMono) && workspace.fitsTokens(tokens, nowMono));
      const refused = fits
        ? null
        : decideLimits(key.tokenWaits(tokens, nowMono), workspace.tokenWaits(tokens, nowMono));
      if (refused) return refused;
      placed = this.#calls.takeOver(request.callId);
    } else if (!key.fits(need, tokens, nowMono) || !workspace.fits(need, tokens, nowMono)) {
      const refused = decideLimits(key.waits(need, tokens, nowMono), workspace.waits(need, tokens, nowMono));
      if (refused) return refused;
    }
    if (pass) this.#shared?.admit(pass);
    if (placed) this.#shared?.takeOver(placed);
    const keyBooked = key.book(need, tokens, nowMono);
    const workspaceBooked = workspace.book(need, tokens, nowMono);
    const claim: Claim = {
      callId: request.callId,
      workspaceId: snapshot.workspace.id,
      keyId: snapshot.key.id,
      admittedAtMs: request.atMs,
      holdNano,
      tokens,
      funding: means.funding,
      simulated: request.simulated === true,
      numbers: pass && this.#shared ? this.#shared.numbers(pass) : numbersOf(key, workspace, nowMono),
    };
    const lease = means.funding === 'lease' ? means.lease : null;
    const keyLease = means.funding === 'lease' ? means.keyLease : null;
    this.#calls.open(
      {
        claim,
        need,
        key,
        workspace,
        keyBooked,
        workspaceBooked,
        lease,
        keyLease,
        share: means.funding === 'row' ? means.share : null,
        holdNano,
        passes: pass ? (placed ? [pass, placed] : [pass]) : none,
        left: false,
        posted: false,
      },
      nowMono,
    );
    return claim;
  }
}

type Decide = (request: ClaimRequest) => Claim | Refusal | Promise<Claim | Refusal>;

const none: readonly Pass[] = [];
const onePlace: Take = { requests: 1, tokens: null, slot: true };

function refusedBy(pass: Pass | undefined): Refusal | null {
  return pass?.verdict.kind === 'refused' ? decideLimits(...pass.verdict.waits) : null;
}
