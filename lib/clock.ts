/** Time as an argument: the shells pass it on, the pure core never asks for it. */
export interface Clock {
  /** Wall clock, ms since the epoch. */
  now(): number;
  /** Monotonic clock, ms with fractions, for durations. */
  mono(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
};
