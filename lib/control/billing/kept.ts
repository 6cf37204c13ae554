/** The moment of an id (UUIDv7). */
export const timeOf = (id: string) =>
  `to_timestamp(('x' || substring(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`;

/** First call id that the log can hold: of the oldest week that is there. */
const firstOfWeeks = `(
  SELECT coalesce(min(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''([0-9a-f-]{36})')),
    '00000000-0000-0000-0000-000000000000')::uuid
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'call'::regclass)`;

/**
 * What retention cannot have deleted of each workspace, which may keep fewer days than others: calls from the id
 * `first_id` on, and from the time `since` on. Older rows may be without their call or job.
 */
export const kept = `(
  SELECT workspace_id, first_id, ${timeOf('first_id')} + interval '1 hour' AS since
  FROM (SELECT w.id AS workspace_id, greatest(${firstOfWeeks}, w.calls_kept_from) AS first_id FROM workspace w) AS w)`;
