import { pattern } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import { knownZone, startOfDate } from '#lib/core/charts/zone';

/** "2026-11". */
export const monthField = pattern(
  {
    label: 'Month',
    help: 'A calendar month in the workspace’s time zone.',
    placeholder: 'YYYY-MM',
    example: '2026-11',
  },
  /^2[01]\d\d-(0[1-9]|1[0-2])$/,
  'must be a month such as 2026-11',
);

/** A range of time, [from, to). */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

/** The month from its first midnight in the zone to that of the next. @param month "2026-11". */
export function spanOfMonth(month: string, zone: string): Span {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const start = (of: number) => new Date(startOfDate(Date.UTC(year, of - 1, 1), knownZone(zone)));
  return { from: start(number), to: start(number + 1) };
}

/** The month before or after another: `monthLater('2026-12', 1)` is "2027-01". */
export function monthLater(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** The requested range, as a month or by its edges. @throws ControlRefused (invalid_body) for both at once. */
export function rangeOf(
  asked: {
    readonly from?: Date | undefined;
    readonly to?: Date | undefined;
    readonly month?: string | undefined;
  },
  zone: string,
): Partial<Span> {
  const { from, to, month } = asked;
  if (month === undefined) return { ...(from ? { from } : {}), ...(to ? { to } : {}) };
  if (from || to) throw badInput('month', 'use either a month or a range, not both');
  return spanOfMonth(month, zone);
}
