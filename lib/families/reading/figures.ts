/**
 * Figures of a provider's usage object: a negative or non-integer one counts as 0 and is flagged
 * (contract: money/reported-usage). An absent one is 0.
 */
export interface Figures {
  read(value: unknown): number;
  flag(name: string): void;
  readonly flags: readonly string[];
}

const none: readonly string[] = [];

export function createFigures(): Figures {
  return new Reading();
}

class Reading implements Figures {
  flags = none;

  read(value: unknown): number {
    if (value === undefined || value === null) return 0;
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      this.flag('usage_not_integer');
      return 0;
    }
    if (value < 0) this.flag('usage_negative');
    return Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER);
  }

  flag(name: string): void {
    if (!this.flags.includes(name)) this.flags = [...this.flags, name];
  }
}
