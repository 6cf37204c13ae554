import type { ErrorTexts } from '#lib/core/families/reading/error-texts';

const DAY_MS = 86_400_000;

const named = /\b(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+\s*){1,4})/;
const part = /(\d+(?:\.\d+)?)\s*([a-z]+)/g;

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
};

/** A wait that an error names ("retry in 17.5s", "try again in 6m0s"), ms, at most a day; null: it names none. */
export function waitIn({ waits }: ErrorTexts): number | null {
  for (const text of waits) {
    const found = named.exec(text)?.[1];
    const ms = found === undefined ? 0 : sumOf(found);
    if (ms > 0) return Math.min(DAY_MS, Math.ceil(ms));
  }
  return null;
}

function sumOf(text: string): number {
  let sum = 0;
  for (const [, figure, unit = ''] of text.matchAll(part)) {
    const scale = unitMs[unit] ?? unitMs[unit.replace(/s$/, '')];
    if (scale === undefined) break;
    sum += Number(figure) * scale;
  }
  return sum;
}
