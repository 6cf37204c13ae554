import { showAgo, showMoment } from '#lib/console/show/time';

/** A time as "… ago", with the exact time in UTC on hover. */
export function When({ iso, nowMs }: { iso: string | null; nowMs: number }) {
  if (iso === null) return <span className="text-muted">Never</span>;
  const atMs = Date.parse(iso);
  return (
    <time dateTime={iso} title={`${showMoment(atMs, 'UTC')} UTC`} className="whitespace-nowrap">
      {showAgo(atMs, nowMs)}
    </time>
  );
}
