/**
 * The Monday, in the time zone of the workspace `w`, up to which a weekly mail reports: this week's from eight in the
 * morning on. An expression of SQL; @param now its placeholder, such as "$1".
 */
export function reportedMonday(now: string): string {
  return `date_trunc('week', (${now}::timestamptz AT TIME ZONE w.time_zone) - interval '8 hours')::date`;
}
