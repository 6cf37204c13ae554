import type { OfferFacts } from '#lib/core/facts/snapshot';

const DAY_MS = 86_400_000;

/** When a day of the catalogue ("2026-10-23") has ended in UTC, ms since the epoch. */
export function endOfDay(day: string): number {
  return Date.parse(day) + DAY_MS;
}

/** Whether the provider has stopped serving an offer (contract: routing/retired). Pure. */
export function isRetired({ servedUntilMs }: Pick<OfferFacts, 'servedUntilMs'>, nowMs: number): boolean {
  return servedUntilMs !== null && nowMs >= servedUntilMs;
}

/** The day that the catalogue gives: "2026-10-23"; null: none is known. */
export function retirementDay({ servedUntilMs }: Pick<OfferFacts, 'servedUntilMs'>): string | null {
  return servedUntilMs === null ? null : new Date(servedUntilMs - 1).toISOString().slice(0, 10);
}
