'use client';

import { Megaphone, TriangleAlert, X } from 'lucide-react';
import { startTransition, useState } from 'react';
import { buttonStyle } from '#components/ui/button';
import { handFocusOn } from '#components/ui/hand-focus-on';

interface AnnouncementsProps {
  /** Remembers it in this browser, so that a dismissed announcement does not flash up. */
  onPutAway(id: string): Promise<void>;
  announcements: readonly {
    readonly id: string;
    readonly text: string;
    readonly tone: 'info' | 'warning';
  }[];
}

/** Announcements from operators, until they are dismissed in this browser. */
export function Announcements({ announcements, onPutAway }: AnnouncementsProps) {
  const [gone, setGone] = useState<readonly string[]>([]);

  function putAway(id: string) {
    setGone((before) => [...before, id]);
    startTransition(() => onPutAway(id));
  }

  return announcements
    .filter(({ id }) => !gone.includes(id))
    .map(({ id, text, tone }) => {
      const Icon = tone === 'warning' ? TriangleAlert : Megaphone;
      return (
        <div
          key={id}
          data-item
          role="note"
          className={`flex items-start gap-3 rounded-lg py-2 pr-2 pl-4 leading-5 print:hidden ${tone === 'warning' ? 'bg-warn-soft text-warn' : 'bg-info-soft text-info'}`}
        >
          <Icon aria-hidden className="mt-1 size-4 shrink-0" />
          <p className="min-w-0 flex-1 py-0.5 [overflow-wrap:anywhere]">{text}</p>
          <button
            type="button"
            data-removes
            aria-label={`Dismiss: ${text.slice(0, 60)}`}
            onClick={(event) => {
              handFocusOn(event.currentTarget);
              putAway(id);
            }}
            className={buttonStyle({ tone: 'quiet', size: 'smallIcon' })}
          >
            <X />
          </button>
        </div>
      );
    });
}
