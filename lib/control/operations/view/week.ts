/**
 * The Monday, in the time zone of the workspace `w`, up to which a weekly mail reports: this week's from eight in the
 * morning on, as text: "2026-11-30". An expression of SQL; @param now its placeholder, such as "$1".
 */
export function reportedMonday(now: string): string {
  return `to_char(date_trunc('week', (${now}::timestamptz AT TIME ZONE w.time_zone) - interval '8 hours'), 'YYYY-MM-DD')`;
}

/** Whether the user `u` may read the view `v`, as a condition of SQL: members, and operators of the gateway. */
export const mayReadView = `(v.shared OR v.owner_id = u.id) AND (u.operator
  OR EXISTS (SELECT FROM member m WHERE m.workspace_id = v.workspace_id AND m.user_id = u.id))`;
