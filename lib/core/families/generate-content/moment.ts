const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** Whether it is a time in UTC as Google's API writes it, which the database can read too. */
export function isMoment(value: unknown): value is string {
  return typeof value === 'string' && moment.test(value) && !Number.isNaN(Date.parse(value));
}
