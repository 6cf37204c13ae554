import { showAgo, showMoment } from '#lib/console/show/time';

/** A moment as the time since, with the moment itself in UTC on hover. */
export function When({ iso, nowMs }: { iso: string | null; nowMs: number }) {
  if (iso === null) return <span className="text-muted">Never</span>;
  const atMs = Date.parse(iso);
  return (
    <time dateTime={iso} title={`${showMoment(atMs, 'UTC')} UTC`} className="whitespace-nowrap">
      {showAgo(atMs, nowMs)}
    </time>
  );
}
