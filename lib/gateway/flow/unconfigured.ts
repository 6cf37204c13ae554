import { noClouds } from '#lib/gateway/clouds/access';
import { createBodyBudget } from '#lib/gateway/flow/body-budget';
import { RefusalPace } from '#lib/gateway/flow/refusal-pace';
import { Drains } from '#lib/gateway/flow/relay/drains';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { bodyPace } from '#lib/gateway/flow/upload/pace';
import { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { Tally } from '#lib/gateway/metrics/tally';
import { createHealth } from '#lib/gateway/routing/breaker';
import { Holders } from '#lib/gateway/routing/holders';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';

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
    answers: null,
    catalogue: () => ({ models: new Map(), providers: new Map() }),
    coordinator: null,
    journal: null,
    resources: null,
    fileRoom: null,
    jobs: null,
    adjustments: null,
    pools: createPools(),
    access: noClouds,
    health: createHealth(),
    credentialCounts: new CredentialCounts(systemClock, null),
    holders: new Holders(),
    limits: { maxBodyBytes: 0, maxUploadBytes: 0, bodyPace },
    closesStreams: false,
    signOfLife: { afterMs: 0, beforeHeaders: false },
    origins: new Set(),
    uploads: null,
    uploadTickets: null,
    secure: false,
    bodies: createBodyBudget(0),
    drains: new Drains(0),
    content: null,
    refusals: new RefusalPace(),
    tally: new Tally(),
    chargeFlags: new ChargeFlags(() => {}),
    offerFaults: new OfferFaults(() => {}),
    report: () => {},
  };
  return made;
}
