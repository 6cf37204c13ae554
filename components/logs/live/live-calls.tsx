'use client';

import { ArrowUp } from 'lucide-react';
import { useRef, useState } from 'react';
import { ConnectionNote } from '#components/live/connection-note';
import { usePoll } from '#components/live/use-poll';
import type { CallRow } from '#components/logs/call-columns';
import { ChosenCallTable } from '#components/logs/chosen-call-table';
import { useLive } from '#components/logs/live/live-switch';
import { useReading } from '#components/logs/live/use-reading';
import { Button } from '#components/ui/button';

interface LiveCallsProps {
  /** The first page, as the server read it. */
  calls: readonly CallRow[];
  /** When it was read, ISO. */
  readAt: string;
  /** URL that returns calls that have ended since; it includes the page's filters. */
  address: string;
}

interface Ended {
  readonly rows: readonly CallRow[];
  readonly now: string;
}

const everyMs = 2_000;
/** More calls are on the next pages. */
const mostRows = 500;

/**
 * The first page of the log; in live mode, new calls are added automatically. While the user is reading (the
 * pointer or the focus is on it, or the page is scrolled), they wait behind a button.
 */
export function LiveCalls({ calls, readAt, address }: LiveCallsProps) {
  const [live] = useLive();
  const [since, setSince] = useState(readAt);
  const [added, setAdded] = useState<readonly CallRow[]>([]);
  const [waiting, setWaiting] = useState<readonly CallRow[]>([]);
  const frame = useRef<HTMLDivElement>(null);
  const reading = useReading(frame, () => {
    setAdded((shown) => merged(waiting, shown));
    setWaiting([]);
  });
  const separator = address.includes('?') ? '&' : '?';
  const connection = usePoll<Ended>(
    live ? `${address}${separator}since=${encodeURIComponent(since)}` : null,
    everyMs,
    ({ rows, now }) => {
      setSince(now);
      const known = new Set([...calls, ...added].map(({ id }) => id));
      const fresh = rows.filter(({ id }) => !known.has(id));
      if (fresh.length === 0) return;
      if (reading()) setWaiting((before) => merged(fresh, before));
      else setAdded((before) => merged(fresh, before));
    },
  );
  const shown = live || added.length > 0 ? merged(added, calls) : calls;
  const fresh = new Set(added.map(({ id }) => id));
  return (
    <div ref={frame} className="grid min-w-0 gap-2">
      {live ? (
        <div className="sticky top-14 z-20 flex h-8 items-center justify-between gap-3 lg:top-0">
          <ConnectionNote connection={connection} />
          <span role="status">
            {waiting.length > 0 ? (
              <Button
                tone="primary"
                size="small"
                className="rounded-full shadow-pop"
                onClick={() => {
                  setAdded((before) => merged(waiting, before));
                  setWaiting([]);
                  frame.current?.scrollIntoView({ block: 'start' });
                }}
              >
                <ArrowUp />
                {waiting.length === 1 ? '1 new call' : `${waiting.length} new calls`}
              </Button>
            ) : null}
          </span>
        </div>
      ) : null}
      {shown.length > 0 ? (
        <ChosenCallTable calls={shown} fresh={fresh} />
      ) : (
        <p className="rounded-lg border border-dashed px-4 py-14 text-center text-muted">
          {live
            ? 'Waiting for the first matching call…'
            : 'No matches in the calls searched so far. Go to the next page to search older calls.'}
        </p>
      )}
    </div>
  );
}

/** Newest first, each call once: the later version wins. */
function merged(newer: readonly CallRow[], older: readonly CallRow[]): readonly CallRow[] {
  const byId = new Map([...older, ...newer].map((row) => [row.id, row]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, mostRows);
}
