/** Time as an argument: the shells pass it on, the pure core never asks for it. */
export interface Clock {
  /** Wall clock, ms since the epoch. */
  now(): number;
  /** Monotonic clock, ms with fractions, for durations. */
  mono(): number;
}

// Taken before Next is loaded, which wraps them and makes every reading cost more.
const wallNow = Date.now;
const monoNow = performance.now.bind(performance);

export const systemClock: Clock = {
  now: () => wallNow(),
  mono: () => monoNow(),
};
