import { isMachineFault } from '#lib/core/machine-fault';
import type { AttemptRecord, CallRecord } from '#lib/gateway/settlement/pure/entry';

/** Upper bounds of the buckets of whole calls and of first bytes, ms; one more bucket takes what is above. */
export const durationBoundsMs = [
  100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
] as const;

/** Models at providers that are counted apart; what comes beyond counts as `other`. A catalogue has some hundreds. */
const MOST_PAIRS = 1_000;

/** Answers of providers that an operator acts on: a credential, a region or permission, a rate, an outage. */
export const answers = ['2xx', '401', '403', '429', '4xx', '5xx', 'other', 'none'] as const;
type AnswerClass = (typeof answers)[number];

/** Numbers sorted into `durationBoundsMs`, and their sum, ms. */
export interface Durations {
  readonly buckets: number[];
  sumMs: number;
}

/** Totals of the calls and attempts at one model of one provider. Tokens as counted, money as nano-dollars. */
export interface ModelCount {
  readonly provider: string;
  readonly model: string;
  readonly attempts: Record<AnswerClass, number>;
  /** Attempts that followed a failed one of the same call. */
  fallbacks: number;
  input: number;
  cachedInput: number;
  output: number;
  costNano: number;
  readonly durations: Durations;
  /** Of streams. */
  readonly firstBytes: Durations;
}

/** Counts by provider and model since the start of this process: plain numbers, as the tally's. */
export class ModelTally {
  readonly #providers = new Map<string, Map<string, ModelCount>>();
  #pairs = 0;

  ended(call: CallRecord): void {
    const { attempts, provider, answeringModel, usage, costNano } = call;
    for (let at = 0; at < attempts.length; at += 1) {
      const attempt = attempts[at];
      // What this machine was short of is no answer of a provider's.
      if (attempt && !isMachineFault(attempt.error)) this.#attempted(attempt, at > 0);
    }
    if (provider === null || answeringModel === null) return;
    const count = this.#of(provider, answeringModel);
    count.input += usage.input + usage.cacheWrite5m + usage.cacheWrite1h;
    count.cachedInput += usage.cachedInput;
    count.output += usage.output;
    count.costNano += Number(costNano);
    add(count.durations, call.latencyMs);
    if (call.streamed && call.firstByteMs !== null) add(count.firstBytes, call.firstByteMs);
  }

  list(): ModelCount[] {
    return [...this.#providers.values()].flatMap((models) => [...models.values()]);
  }

  #attempted({ provider, model, status }: AttemptRecord, isFallback: boolean): void {
    const count = this.#of(provider, model);
    count.attempts[classOf(status)] += 1;
    if (isFallback) count.fallbacks += 1;
  }

  #of(provider: string, model: string): ModelCount {
    const known = this.#providers.get(provider)?.get(model);
    if (known) return known;
    if (this.#pairs >= MOST_PAIRS && provider !== 'other') return this.#of('other', 'other');
    this.#pairs += 1;
    const made: ModelCount = {
      provider,
      model,
      attempts: { '2xx': 0, '401': 0, '403': 0, '429': 0, '4xx': 0, '5xx': 0, other: 0, none: 0 },
      fallbacks: 0,
      input: 0,
      cachedInput: 0,
      output: 0,
      costNano: 0,
      durations: empty(),
      firstBytes: empty(),
    };
    const models = this.#providers.get(provider) ?? new Map<string, ModelCount>();
    models.set(model, made);
    this.#providers.set(provider, models);
    return made;
  }
}

function empty(): Durations {
  return { buckets: new Array<number>(durationBoundsMs.length + 1).fill(0), sumMs: 0 };
}

function add(durations: Durations, ms: number): void {
  let bucket = 0;
  while (ms > (durationBoundsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1;
  durations.sumMs += ms;
}

function classOf(status: number | null): AnswerClass {
  if (status === null) return 'none';
  if (status === 401 || status === 403 || status === 429) return `${status}`;
  if (status >= 200 && status < 300) return '2xx';
  if (status >= 400 && status < 500) return '4xx';
  return status >= 500 && status < 600 ? '5xx' : 'other';
}
