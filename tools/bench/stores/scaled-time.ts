/**
 * Loaded before everything else by a process of the simulated fleet: its timers run `speed` times as fast, and so does
 * `fleetClock`. All periods and the rate of calls change by the same factor, so what happens in a second of the
 * fleet's time stays the same; only answers of the stores seem to take `speed` times as long.
 */
const speed = Number(process.argv[2] ?? 1);
const { setTimeout: timeout, setInterval: interval } = globalThis;

function scaled(ms: number | undefined): number {
  return (ms ?? 0) / speed;
}

globalThis.setTimeout = Object.assign(
  (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => timeout(work, scaled(ms), ...args),
  timeout,
) as typeof timeout;
globalThis.setInterval = Object.assign(
  (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    interval(work, scaled(ms), ...args),
  interval,
) as typeof interval;

/** When all processes of the fleet had the real time, ms since the epoch. */
const originMs = Number(process.argv[3] ?? Date.now());
const fleetNow = () => originMs + (Date.now() - originMs) * speed;

/** The time of the fleet: the same in all of its processes. */
export const fleetClock = { now: fleetNow, mono: () => performance.now() * speed };
