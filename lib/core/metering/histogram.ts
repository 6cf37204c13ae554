/** The largest duration that a column of whole milliseconds can contain. */
const mostMs = 2_147_483_647;
/** A bucket's longest duration over its shortest: no estimate is off by more than 4.8 %. */
const growth = 1.1;
/** Decimal digits of one bucket's count inside the stored number: sums stay below 10¹² calls a bucket. */
const digits = 12;

/**
 * Where the buckets begin, ms: each whole millisecond for itself up to 9, then growing by a tenth. Bucket n
 * counts durations from `bounds[n - 1]` up to before `bounds[n]`, as `width_bucket(ms, bounds)` of PostgreSQL
 * counts; bucket 0 counts what took less than 1 ms. Stored sums depend on them: they never change.
 */
export const bounds: readonly number[] = makeBounds();

function makeBounds(): number[] {
  const made: number[] = [];
  for (let low = 1; low <= mostMs; low = Math.floor(low * growth) + 1) made.push(low);
  return made;
}

/** A duration as the call log stores it: whole ms in the range of the column. */
export function wholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.min(Math.max(Math.round(ms), 0), mostMs) : 0;
}

/** The bucket of a duration, ms: how many bounds are not above it. */
export function bucketOf(ms: number): number {
  const whole = wholeMs(ms);
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) <= whole) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The duration that is closest, relatively, to all durations of a bucket, ms. */
function middleOf(bucket: number): number {
  const low = bounds[bucket - 1];
  if (low === undefined) return 0;
  const high = (bounds[bucket] ?? mostMs + 1) - 1;
  return (2 * low * high) / (low + high);
}

/**
 * How often durations occurred, in fixed logarithmic buckets (contract: call-log/histograms). Merging two gives
 * exactly the histogram of all their durations, so that quantiles of any range are as exact as those of one quarter
 * of an hour.
 *
 * Stored as one decimal number whose groups of 12 digits are the counts, the shortest durations last: the
 * database merges by `+` and `sum`, without functions of ours.
 */
export class Histogram {
  readonly #counts = new Map<number, number>();
  #total = 0;

  /** How many durations it contains. */
  get total(): number {
    return this.#total;
  }

  /** @param ms 0 or more; rounded to whole ms. */
  add(ms: number): void {
    this.#count(bucketOf(ms), 1);
  }

  /** Adds all durations of another histogram. */
  merge(other: Histogram): void {
    for (const [bucket, count] of other.#counts) this.#count(bucket, count);
  }

  /** Takes away all durations of another histogram, which are among its own. */
  remove(other: Histogram): void {
    for (const [bucket, count] of other.#counts) this.#count(bucket, -count);
  }

  #count(bucket: number, count: number): void {
    const counted = (this.#counts.get(bucket) ?? 0) + count;
    if (counted === 0) this.#counts.delete(bucket);
    else this.#counts.set(bucket, counted);
    this.#total += count;
  }

  /**
   * The duration that a share of them does not exceed (nearest rank), at most 5 % off.
   * @param share 0.95 for p95. @returns ms with two decimals; null when it is empty.
   */
  quantile(share: number): number | null {
    if (this.#total === 0) return null;
    let left = Math.max(1, Math.ceil(share * this.#total));
    for (const bucket of this.#buckets()) {
      left -= this.#counts.get(bucket) ?? 0;
      if (left <= 0) return Math.round(middleOf(bucket) * 100) / 100;
    }
    return null;
  }

  /** As text of a decimal number, with an exponent for the buckets below the first that counts something. */
  toNumber(): string {
    const buckets = this.#buckets();
    const [lowest] = buckets;
    if (lowest === undefined) return '0';
    let text = '';
    let above = buckets.at(-1) ?? lowest;
    for (const bucket of buckets.reverse()) {
      text += '0'.repeat(digits * Math.max(0, above - bucket - 1));
      text += String(this.#counts.get(bucket)).padStart(digits, '0');
      above = bucket;
    }
    return `${text}${lowest === 0 ? '' : `e${lowest * digits}`}`;
  }

  #buckets(): number[] {
    return [...this.#counts.keys()].sort((a, b) => a - b);
  }

  /** @param text of a stored number as the database prints it: only digits. @throws Error for anything else. */
  static ofNumber(text: string): Histogram {
    if (!/^\d+$/.test(text)) throw new Error(`a histogram is a whole number, not "${text.slice(0, 40)}"`);
    const made = new Histogram();
    // Most of a number is the zeros of buckets below the first one that counts something. A regular expression would
    // try
    // each zero before them too.
    let last = text.length;
    while (last > 0 && text[last - 1] === '0') last -= 1;
    let bucket = Math.floor((text.length - last) / digits);
    for (let end = text.length - bucket * digits; end > 0; end -= digits, bucket++) {
      const count = Number(text.slice(Math.max(0, end - digits), end));
      if (count > 0) made.#count(bucket, count);
    }
    return made;
  }
}
