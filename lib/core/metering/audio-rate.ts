/** Prices by the minute and by the second are exact by the hour, and so are those by the hour. */
const MS_PER_HOUR = 3_600_000n;
const UNITS_PER_RATE = 1_000_000n;
const NANO_PER_MICRO = 1_000n;

/**
 * The rate of audio, rounded down: what that leaves out is less than a nano-dollar for each 1,000 s, and the cost of a
 * call is rounded up (contract: money/audio-rate).
 * @param hourNano nano-dollars for an hour. @returns nano-dollars per million milliseconds.
 */
export function audioRate(hourNano: bigint): bigint {
  return (hourNano * UNITS_PER_RATE) / MS_PER_HOUR;
}

/**
 * The price of an hour of audio that a rate was made of: a catalogue gives millionths of a dollar, which rounding does
 * not reach (contract: money/audio-rate).
 * @param rate nano-dollars per million milliseconds. @returns nano-dollars.
 */
export function hourlyNano(rate: bigint): bigint {
  const nano = (rate * MS_PER_HOUR) / UNITS_PER_RATE;
  return ((nano + NANO_PER_MICRO / 2n) / NANO_PER_MICRO) * NANO_PER_MICRO;
}
