import { systemClock } from '#lib/clock';
import { createBodyBudget } from '#lib/gateway/body-budget';
import { createRefusalPace } from '#lib/gateway/refusal-pace';
import { createDrains } from '#lib/gateway/relay/drains';
import type { Runtime } from '#lib/gateway/runtime';
import { bodyPace } from '#lib/gateway/upload/pace';
import { createIds } from '#lib/ids';
import { ChargeFlags } from '#lib/metrics/charge-flags';
import { OfferFaults } from '#lib/metrics/offer-faults';
import { Tally } from '#lib/metrics/tally';
import { createHealth } from '#lib/routing/breaker';
import { createHolders } from '#lib/routing/holders';
import { createPools } from '#lib/upstream/pools';

let made: Runtime | undefined;

/**
 * The runtime of a host that has none: every request gets an id and the refusal that names its cause
 * (contract: authentication/resolver).
 */
export function unconfiguredRuntime(): Runtime {
  if (made) return made;
  const ids = createIds(systemClock);
  made = {
    clock: systemClock,
    newId: ids.newId,
    fallbackId: ids.fallbackId,
    keys: null,
    catalogue: () => ({ models: new Map(), providers: new Map() }),
    coordinator: null,
    journal: null,
    resources: null,
    jobs: null,
    adjustments: null,
    pools: createPools(),
    health: createHealth(),
    holders: createHolders(),
    limits: { maxBodyBytes: 0, maxUploadBytes: 0, bodyPace },
    closesStreams: false,
    signOfLife: { afterMs: 0, beforeHeaders: false },
    origins: new Set(),
    uploads: null,
    bodies: createBodyBudget(0),
    drains: createDrains(0),
    refusals: createRefusalPace(),
    tally: new Tally(),
    chargeFlags: new ChargeFlags(() => {}),
    offerFaults: new OfferFaults(() => {}),
    report: () => {},
  };
  return made;
}
