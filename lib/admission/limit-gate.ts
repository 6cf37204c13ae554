import type { Claim, ClaimRequest } from '#lib/admission/claim';
import { checkLimits, decideLimits } from '#lib/admission/decide';
import type { Lease } from '#lib/admission/funds/lease-book';
import { type LimitBook, numbersOf } from '#lib/admission/limit-book';
import type { OpenCalls } from '#lib/admission/open-calls';
import type { Clock } from '#lib/clock';
import type { Refusal } from '#lib/errors';
import type { KeySnapshot } from '#lib/snapshot/snapshot';

/** What pays for a call: leases of this process, a row in PostgreSQL, or nothing is to pay. */
export type Means =
  | { readonly funding: 'lease'; readonly lease: Lease; readonly keyLease: Lease | null }
  | { readonly funding: 'row' | 'none' };

export const free: Means = { funding: 'none' };
export const byRow: Means = { funding: 'row' };

/**
 * Steps 13 and 14 of admission (contract: admission/order), after money was decided; then everything is booked at
 * once.
 */
export class LimitGate {
  readonly #clock: Clock;
  readonly #limits: LimitBook;
  readonly #calls: OpenCalls;

  constructor(clock: Clock, limits: LimitBook, calls: OpenCalls) {
    this.#clock = clock;
    this.#limits = limits;
    this.#calls = calls;
  }

  /** Holds an RPM unit and the slots for a call. @returns a refusal, with nothing held; or null. */
  place(callId: string, snapshot: KeySnapshot): Refusal | null {
    const wrong = checkLimits(snapshot);
    if (wrong) return wrong;
    const nowMono = this.#clock.mono();
    const key = this.#limits.of(snapshot.key.id, snapshot.key.limits);
    const workspace = this.#limits.of(snapshot.workspace.id, snapshot.workspace.limits);
    if (!key.fits('rate', 0, nowMono) || !workspace.fits('rate', 0, nowMono)) {
      const refused = decideLimits(key.waits('rate', 0, nowMono), workspace.waits('rate', 0, nowMono));
      if (refused) return refused;
    }
    key.place();
    workspace.place();
    this.#calls.place(callId, { key, workspace });
    return null;
  }

  /** @returns a refusal, with nothing booked; or the claim. */
  admit(request: ClaimRequest, means: Means): Claim | Refusal {
    const { snapshot, need, tokens, holdNano } = request;
    const wrong = checkLimits(snapshot);
    if (wrong) return wrong;
    const nowMono = this.#clock.mono();
    const key = this.#limits.of(snapshot.key.id, snapshot.key.limits);
    const workspace = this.#limits.of(snapshot.workspace.id, snapshot.workspace.limits);
    if (request.placed) {
      const fits =
        need !== 'generate' || (key.fitsTokens(tokens, nowMono) && workspace.fitsTokens(tokens, nowMono));
      const refused = fits
        ? null
        : decideLimits(key.tokenWaits(tokens, nowMono), workspace.tokenWaits(tokens, nowMono));
      if (refused) return refused;
      this.#calls.vacate(request.callId);
    } else if (!key.fits(need, tokens, nowMono) || !workspace.fits(need, tokens, nowMono)) {
      const refused = decideLimits(key.waits(need, tokens, nowMono), workspace.waits(need, tokens, nowMono));
      if (refused) return refused;
    }
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
      numbers: numbersOf(key, workspace, nowMono),
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
        holdNano,
        left: false,
        posted: false,
      },
      nowMono,
    );
    return claim;
  }
}
