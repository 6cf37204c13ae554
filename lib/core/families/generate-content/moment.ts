const moment = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** Whether it is a time in UTC as Google's API writes it, which the database can read too. */
export function isMoment(value: unknown): value is string {
  if (typeof value !== 'string' || !moment.test(value)) return false;
  const ms = Date.parse(value);
  // February 30 is read as March 2 here, and refused by the database.
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === value.slice(0, 19);
}
