import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { ClaimRequest } from '#lib/gateway/admission/claim';
import { LeaseBook } from '#lib/gateway/admission/lease-book';
import { LimitGate } from '#lib/gateway/admission/limit-gate';
import { OpenCalls } from '#lib/gateway/admission/open-calls';
import { LimitBook } from '#lib/gateway/limits/pure/limit-book';
import { snapshotOf } from '#tests/support/admission';

const holdNano = 300n;

/** A call that runs, with its hold in a lease of the workspace and one of the key. */
function running() {
  const leases = new LeaseBook();
  const calls = new OpenCalls(leases);
  const gate = new LimitGate({ now: () => 0, mono: () => 0 }, new LimitBook(), calls);
  const snapshot = snapshotOf({ limits: { rpm: 10, tpm: 1_000, concurrency: 1 } });
  const lease = leases.workspace(snapshot.workspace.id, 0);
  const keyLease = leases.key(snapshot.key.id, snapshot.workspace.id, 0);
  for (const one of [lease, keyLease]) one.grant(1_000n, 0);
  const request: ClaimRequest = { callId: 'one', atMs: 0, snapshot, need: 'generate', holdNano, tokens: 100 };
  const claim = gate.admit(request, { funding: 'lease', leases: [lease, keyLease] });
  if (isRefusal(claim)) throw new Error(claim.message);
  const next = () =>
    gate.admit({ ...request, callId: 'two' }, { funding: 'lease', leases: [lease, keyLease] });
  return { calls, claim, next, held: () => [lease.heldNano, keyLease.heldNano], lease, keyLease };
}

describe('a call that ended', () => {
  it.each([
    ['with a charge', 120n],
    ['without one', 0n],
  ])('holds nothing any more in its leases: %s', (_how, chargeNano) => {
    const { calls, claim, held, lease } = running();
    expect(held()).toEqual([holdNano, holdNano]);
    calls.release(claim.callId, { atMs: 0, chargeNano, tokens: null }, 0);
    expect(held()).toEqual([0n, 0n]);
    expect(lease.usableNano).toBe(1_000n - chargeNano);
  });

  it('holds nothing any more of what its hold has grown by', () => {
    const { calls, claim, held } = running();
    expect(calls.grow(claim.callId, 200n, 0)).toBe(true);
    expect(held()).toEqual([500n, 500n]);
    calls.release(claim.callId, { atMs: 0, chargeNano: 0n, tokens: null }, 0);
    expect(held()).toEqual([0n, 0n]);
  });

  it('ends once: a second end frees nothing twice', () => {
    const { calls, claim, held } = running();
    const outcome = { atMs: 0, chargeNano: 0n, tokens: null };
    expect(calls.release(claim.callId, outcome, 0)).not.toBeNull();
    expect(calls.release(claim.callId, outcome, 0)).toBeNull();
    expect(held()).toEqual([0n, 0n]);
  });

  it('owes its charge until it is posted, and then nothing', () => {
    const { calls, claim, lease, keyLease } = running();
    calls.release(claim.callId, { atMs: 0, chargeNano: 120n, tokens: null }, 0);
    expect([lease.debtNano, keyLease.debtNano]).toEqual([120n, 120n]);
    const { callId, workspaceId, keyId } = claim;
    calls.posted({ callId, workspaceId, keyId, funding: 'lease', chargeNano: 120n });
    expect([lease.debtNano, keyLease.debtNano, lease.usableNano]).toEqual([0n, 0n, 880n]);
  });

  it('gives its slot to the next one', () => {
    const { calls, claim, next } = running();
    expect(next()).toMatchObject({ code: 'api_key_concurrency_exceeded' });
    calls.release(claim.callId, { atMs: 0, chargeNano: 0n, tokens: null }, 0);
    expect(isRefusal(next())).toBe(false);
  });
});
