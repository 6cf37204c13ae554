import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import type { Store } from '#lib/control/operations/store';
import { isRetired } from '#lib/core/facts/retired';
import { isMachineFault } from '#lib/core/machine-fault';
import { type OfferHealth, type OfferState, offerState } from '#lib/gateway/routing/health';
import { storedAttempts } from '#lib/gateway/settlement/pure/record/stored-attempts';

/** How many of the newest calls and of failures are looked at, and how many errors of an offer are shown. */
const mostCalls = 5_000;
const mostFailed = 500;
const mostErrors = 3;

const failure = z.object({
  at: z.iso.datetime(),
  call: z.uuid(),
  status: z.int().nullable().describe('Status of the provider’s answer; null: no answer.'),
  error: z.string().nullable(),
});

const shownOffer = z.object({
  model: z.string(),
  provider: z.string(),
  state: z.enum(['in service', 'set aside', 'probing', 'untried']),
  until: z.iso.datetime().nullable().describe('Set aside until then.'),
  failures: z.int().describe('Consecutive failures.'),
  errorRate: z.number().describe('Share of its latest attempts that failed, from 0 to 1.'),
  running: z.int().describe('Attempts in progress in the process that is shown.'),
  firstByteMs: z.number().nullable().describe('Smoothed time to the first byte of streams, ms.'),
  wholeMs: z.number().nullable().describe('Smoothed time of whole answers, ms.'),
  errors: z.array(failure).describe('Its latest failed attempts, without any content.'),
});
export type FleetOffer = z.output<typeof shownOffer>;

export const showFleetHealth = read({
  name: 'fleet.health',
  summary:
    'Shows the state of every offer that was recently tried or has failed, with its latest errors; failing offers first.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: z.object({
    processes: z
      .int()
      .describe('How many processes of this machine answered; 0: the state of breakers is unknown.'),
    calls: z.int().describe('How many of the newest calls were searched for errors.'),
    data: z.array(shownOffer),
    next: z.null(),
  }),
  http: [{ method: 'GET', path: '/fleet/health' }],
  line: { columns: ['model', 'provider', 'state', 'until', 'failures', 'errorRate', 'errors'] },
  run: async (context) => {
    const catalogue = await context.catalogue();
    const { processes, of } = await context.health();
    const { calls, failures } = await readFailures(context.store);
    const data = [...catalogue.models.values()].flatMap((model) =>
      model.offers.flatMap((offer) => {
        if (isRetired(offer, context.nowMs)) return [];
        const { id, provider } = offer;
        const health = of(id);
        const errors = failures.get(`${model.id} ${provider.id}`) ?? [];
        const tried = wasTried(health);
        if (!tried && errors.length === 0) return [];
        return [offerOf({ model: model.id, provider: provider.id, health, tried, errors }, context.nowMs)];
      }),
    );
    data.sort((one, other) => rankOf(one) - rankOf(other) || other.errorRate - one.errorRate);
    return { processes, calls, data, next: null };
  },
});

interface Known {
  readonly model: string;
  readonly provider: string;
  readonly health: OfferHealth;
  readonly tried: boolean;
  readonly errors: FleetOffer['errors'];
}

function offerOf({ model, provider, health, tried, errors }: Known, nowMs: number): FleetOffer {
  const state: OfferState | 'untried' = tried ? offerState(health, nowMs) : 'untried';
  return {
    model,
    provider,
    state,
    errors,
    until: health.openUntilMs > nowMs ? new Date(health.openUntilMs).toISOString() : null,
    failures: health.failures,
    errorRate: health.errorRate,
    running: health.running,
    firstByteMs: health.streamFirstByteMs.value,
    wholeMs: health.wholeMs.value,
  };
}

const ranks: Readonly<Record<FleetOffer['state'], number>> = {
  'set aside': 0,
  probing: 1,
  'in service': 2,
  untried: 3,
};
/** Offers that failed recently come before the others. */
function rankOf({ state, errors }: FleetOffer): number {
  return ranks[state] * 2 + (errors.length > 0 ? 0 : 1);
}

/** Whether any attempt was made: Next's copy of the module has its own object for an offer without attempts. */
function wasTried({ streamFirstByteMs, wholeMs, failures, running, errorRate, openUntilMs }: OfferHealth) {
  return (
    failures + running + errorRate + openUntilMs > 0 || (streamFirstByteMs.value ?? wholeMs.value) !== null
  );
}

interface FailedCall {
  readonly id: string;
  readonly at: Date;
  readonly status: number;
  readonly provider: string | null;
  readonly answeringModel: string | null;
  readonly attempts: unknown;
}

/** By model and provider, newest first. Made-up calls are left out. */
async function readFailures(store: Pick<Store, 'query'>) {
  const rows = await store.query<FailedCall & { looked: number }>(
    `WITH newest AS MATERIALIZED (
       SELECT id, at, workspace_id, status, provider, answering_model, end_reason, attempts FROM call
       ORDER BY id DESC LIMIT ${mostCalls})
     SELECT c.id::text AS id, c.at, c.status, c.provider, c.answering_model AS "answeringModel", c.attempts,
       (SELECT count(*) FROM newest)::int AS looked
     FROM newest c JOIN workspace w ON w.id = c.workspace_id AND NOT w.demo
     WHERE c.end_reason <> 'refused' AND (c.status >= 400 OR json_array_length(c.attempts) > 1
       OR c.end_reason IN ('upstream_error', 'timeout'))
     ORDER BY c.id DESC LIMIT ${mostFailed}`,
    [],
  );
  const failures = new Map<string, FleetOffer['errors']>();
  for (const call of rows) {
    for (const { provider, model, status, error } of storedAttempts(call.attempts, call)) {
      // A client's mistake or a shortage on this machine says nothing about an offer.
      if (isMachineFault(error)) continue;
      if (error === null && (status === null || status < 400 || status === 400 || status === 404)) continue;
      const known = failures.get(`${model} ${provider}`) ?? [];
      if (known.length < mostErrors) known.push({ at: call.at.toISOString(), call: call.id, status, error });
      failures.set(`${model} ${provider}`, known);
    }
  }
  return { calls: rows[0]?.looked ?? 0, failures };
}
