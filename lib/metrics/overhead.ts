import { Histogram, type Registry } from 'prom-client';
import { overheadBoundsMs, type Tally } from '#lib/metrics/tally';

const name = 'gateway_overhead_seconds';
const help = 'Latency of logged calls without the time that providers took.';

/**
 * The overhead of calls as a histogram. The library's own sorts as it observes, half a microsecond a
 * call; this one reads what the tally has sorted, when it is scraped.
 */
export class OverheadHistogram extends Histogram {
  readonly #tally: Tally;

  constructor(tally: Tally, registry: Registry) {
    super({ name, help, buckets: overheadBoundsMs.map((ms) => ms / 1000), registers: [registry] });
    this.#tally = tally;
  }

  /** What prom-client 15 reads a histogram by, as text and as JSON alike. */
  async getForPromString() {
    const { buckets, sumMs } = this.#tally.overhead();
    const line = (end: string, value: number, labels = {}) => ({
      metricName: `${name}_${end}`,
      labels,
      sharedLabels: {},
      value,
    });
    let count = 0;
    const values = buckets.map((more, at) => {
      count += more;
      const bound = overheadBoundsMs[at];
      return line('bucket', count, { le: bound === undefined ? '+Inf' : bound / 1000 });
    });
    values.push(line('sum', sumMs / 1000), line('count', count));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}
