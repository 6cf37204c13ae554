import { showCount } from '#lib/core/show-money';

/** How a figure differs from the previous period. */
export interface Delta {
  /** "+12%", "−8%", "same", "× 14". */
  readonly text: string;
  readonly direction: -1 | 0 | 1;
}

/** null: nothing to compare, also if there was nothing in the previous period. */
export function deltaOf(now: number | null, before: number | null): Delta | null {
  if (now === null || before === null || before === 0) return null;
  if (now === before) return { text: 'same', direction: 0 };
  const share = (now - before) / before;
  const percent = Math.abs(share * 100);
  const direction = share > 0 ? 1 : -1;
  if (percent >= 1000) return { text: `× ${showCount(now / before)}`, direction };
  const shown = rounded(percent);
  return shown === '0'
    ? { text: 'same', direction: 0 }
    : { text: `${direction > 0 ? '+' : '−'}${shown}%`, direction };
}

function rounded(percent: number): string {
  return percent < 9.95 ? String(Number(percent.toFixed(1))) : String(Math.round(percent));
}
