import type { Side, UsageReport } from '#lib/core/metering/usage';

const none: readonly never[] = [];
const decimal = /^\s*-?\d{1,300}(\.\d{1,300})?\s*$/;

/**
 * Figures of a provider's usage object (contract: money/reported-usage, money/unreadable-usage). An absent one is 0;
 * digits in a string are a number; a fraction is rounded up. One that cannot be read counts as 0, and is estimated
 * if it was the figure of the input or the output.
 */
export class Figures {
  #flags: readonly string[] = none;
  #unread: readonly Side[] = none;

  /** @param of the side that has to be estimated if the figure cannot be read; absent: a part of another figure. */
  read(value: unknown, of?: Side): number {
    const figure = this.#number(value);
    if (figure !== null) return figure;
    if (of !== undefined) this.lack(of);
    return 0;
  }

  /** A number of pieces: one if it cannot be read. */
  readCount(value: unknown): number {
    return this.#number(value) ?? 1;
  }

  flag(name: string): void {
    if (!this.#flags.includes(name)) this.#flags = [...this.#flags, name];
  }

  /** The figure of this side is missing, or cannot be read. */
  lack(side: Side): void {
    if (!this.#unread.includes(side)) this.#unread = [...this.#unread, side];
  }

  /** What a report says of its figures. */
  marks(): Pick<UsageReport, 'flags' | 'unread'> {
    return this.#unread.length === 0 ? { flags: this.#flags } : { flags: this.#flags, unread: this.#unread };
  }

  /** @returns null for what cannot be read. */
  #number(value: unknown): number | null {
    const number = numberIn(value);
    if (number === null || number < 0) {
      this.flag(number === null ? 'usage_unreadable' : 'usage_negative');
      return null;
    }
    if (!Number.isInteger(number)) this.flag('usage_not_integer');
    return Math.ceil(number);
  }
}

/** A figure as it is read, without a flag; null for one that cannot be read. */
export function figureIn(value: unknown): number | null {
  const number = numberIn(value);
  return number === null || number < 0 ? null : Math.ceil(number);
}

/** The number in a value, 0 for an absent one; null if it is not a number, or exceeds what a number can represent. */
function numberIn(value: unknown): number | null {
  if (value === undefined || value === null) return 0;
  const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) return null;
  return number + 0;
}
