'use client';

import { TimerOff } from 'lucide-react';
import { useKeyPage } from '#components/keys/key-actions';
import { KeyMenu } from '#components/keys/key-menu';
import type { KeyRow } from '#components/keys/key-row';
import { useKeyChange } from '#components/keys/use-key-change';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { CopyButton } from '#components/ui/copy-button';

/** The heading of a key's page: the key, its status and its actions. */
export function KeyHead({ row }: { row: KeyRow }) {
  const { status } = row;
  return (
    <header className="grid gap-3">
      <div className="flex items-start justify-between gap-4">
        <div className="grid min-w-0 gap-1">
          <h1 className="font-semibold text-xl tracking-tight [overflow-wrap:anywhere]">{row.name}</h1>
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
            <Badge tone={status.tone} dot>
              {status.text}
            </Badge>
            <code className="font-mono text-ink">{row.masked}</code>
            <span className="flex min-w-0 items-center gap-1">
              <code className="break-all font-mono">{row.id}</code>
              <CopyButton value={row.id} what="key id" />
            </span>
          </p>
        </div>
        <KeyMenu row={row} />
      </div>
      {status.tone === 'good' ? null : <KeyBanner status={status} />}
      {row.earlier ? <Overlap row={row} earlier={row.earlier} /> : null}
    </header>
  );
}

const banners = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  neutral: 'bg-hover text-ink',
} as const;

/** Why its calls are refused, and what to do about it. */
function KeyBanner({ status }: { status: KeyRow['status'] }) {
  return <p className={`rounded-lg px-4 py-2.5 leading-5 ${banners[status.tone]}`}>{status.why}</p>;
}

/** Says that two secrets work, which ones and until when, with a button to stop the old one now. */
function Overlap({ row, earlier }: { row: KeyRow; earlier: NonNullable<KeyRow['earlier']> }) {
  const { locked } = useKeyPage();
  const { change, pending } = useKeyChange(row);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg bg-warn-soft px-4 py-2.5 text-warn">
      <p className="min-w-0 flex-1 basis-60 leading-5">
        Two secrets work: <code className="font-mono">{row.masked}</code>, and until {earlier.until}{' '}
        <code className="font-mono">{earlier.masked}</code> (the old secret).
      </p>
      <Button
        size="small"
        disabled={pending || locked !== null}
        title={locked ?? undefined}
        onClick={() => change('endOverlap')}
      >
        <TimerOff />
        Stop the old secret now
      </Button>
    </div>
  );
}
