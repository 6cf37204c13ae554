import type { Registry } from 'prom-client';
import { CountedHistogram } from '#lib/gateway/metrics/counted-histogram';
import {
  answers,
  type Durations,
  durationBoundsMs,
  type ModelCount,
  type ModelTally,
} from '#lib/gateway/metrics/model-tally';
import { registerCounter } from '#lib/programs/metrics/counter';

/** Registers attempts, tokens, cost and time by provider and model. */
export function registerModels(registry: Registry, tally: ModelTally): void {
  const counter = (
    name: string,
    help: string,
    label: string | null,
    of: (count: ModelCount) => [string, number][],
  ) =>
    registerCounter(registry, {
      name,
      help,
      labelNames: ['provider', 'model', ...(label === null ? [] : [label])],
      read: () =>
        tally.list().flatMap((one) =>
          of(one)
            .filter(([, count]) => count > 0)
            .map(
              ([value, count]) =>
                [{ ...labelsOf(one), ...(label !== null && { [label]: value }) }, count] as const,
            ),
        ),
    });
  counter(
    'gateway_provider_answers_total',
    'Attempts by the HTTP status of the provider; none means that it returned no HTTP response.',
    'status',
    ({ attempts }) => answers.map((status) => [status, attempts[status]]),
  );
  counter(
    'gateway_fallbacks_total',
    'Attempts that followed a failed attempt of the same call.',
    null,
    (count) => [['', count.fallbacks]],
  );
  counter(
    'gateway_tokens_total',
    'Tokens of calls: input (uncached), cached_input and output.',
    'kind',
    (count) => [
      ['input', count.input],
      ['cached_input', count.cachedInput],
      ['output', count.output],
    ],
  );
  counter(
    'gateway_cost_dollars_total',
    'Charges of calls, rounded; for graphs only. The ledger has the exact amounts.',
    null,
    (count) => [['', count.costNano / 1e9]],
  );
  const histogram = (name: string, help: string, of: (count: ModelCount) => Durations) =>
    new CountedHistogram(registry, {
      name,
      help,
      boundsMs: durationBoundsMs,
      labelNames: ['provider', 'model'],
      read: () => tally.list().map((count) => ({ labels: labelsOf(count), ...of(count) })),
    });
  histogram(
    'gateway_call_duration_seconds',
    'Duration of answered calls, from arrival to end.',
    ({ durations }) => durations,
  );
  histogram(
    'gateway_first_byte_seconds',
    'Time from the arrival of a streamed call to the first byte of its answer.',
    ({ firstBytes }) => firstBytes,
  );
}

function labelsOf({ provider, model }: ModelCount): Record<string, string> {
  return { provider, model };
}
