import { offsetMs } from '#lib/core/charts/zone';
import type { Rhythm } from '#tools/demo/cast';

export const hourMs = 3_600_000;

const bell = (hour: number, peak: number, width: number) => Math.exp(-(((hour - peak) / width) ** 2) / 2);

/** The weight of an hour of the day, 0 to 23, for the calls of a weekday. */
const hours: Readonly<Record<Rhythm, (hour: number) => number>> = {
  office: (hour) => bell(hour, 10.5, 1.8) + 0.8 * bell(hour, 15, 2) + 0.01,
  people: (hour) => 0.7 * bell(hour, 12, 3) + bell(hour, 20, 2.4) + 0.05,
  nightly: (hour) => (hour === 2 ? 1 : hour === 3 ? 0.35 : 0),
  steady: (hour) => 1 + 0.35 * bell(hour, 14, 4),
};
const weekends: Readonly<Record<Rhythm, number>> = { office: 0.1, people: 1.15, nightly: 1, steady: 0.8 };

const sums = new Map<Rhythm, number>();

function sumOf(rhythm: Rhythm): number {
  const known = sums.get(rhythm);
  if (known !== undefined) return known;
  const sum = Array.from({ length: 24 }, (_, hour) => hours[rhythm](hour)).reduce((all, one) => all + one, 0);
  sums.set(rhythm, sum);
  return sum;
}

/** The share of a weekday's calls in the hour that begins at `atMs`, by the wall clock of a zone. */
export function shareOf(rhythm: Rhythm, atMs: number, zone: string): number {
  const local = new Date(atMs + offsetMs(atMs, zone));
  const weekend = local.getUTCDay() === 0 || local.getUTCDay() === 6;
  return (hours[rhythm](local.getUTCHours()) / sumOf(rhythm)) * (weekend ? weekends[rhythm] : 1);
}

/** A problem at a provider. */
export interface Trouble {
  readonly provider: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Share of attempts that fail with 503. */
  readonly failing: number;
  /** How many times longer its answers take. */
  readonly slower: number;
}

/** The problems in the days before `untilMs`: an outage, a slow afternoon and another short outage. */
export function troubles(untilMs: number): readonly Trouble[] {
  const around = (hoursBefore: number, lasting: number) => ({
    fromMs: untilMs - hoursBefore * hourMs,
    toMs: untilMs - (hoursBefore - lasting) * hourMs,
  });
  return [
    { provider: 'openai', ...around(9 * 24 + 5, 1.2), failing: 0.85, slower: 1 },
    { provider: 'anthropic', ...around(4 * 24 + 3, 4), failing: 0.02, slower: 2.3 },
    { provider: 'google', ...around(30, 0.4), failing: 0.7, slower: 1.2 },
  ];
}

/** How often attempts fail without a problem, for providers at which that is not rare. */
export const usualFailing: Readonly<Record<string, number>> = { groq: 0.03, deepseek: 0.012 };
