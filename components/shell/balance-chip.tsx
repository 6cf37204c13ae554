'use client';

import { Wallet } from 'lucide-react';
import { useState } from 'react';
import { ConnectionNote } from '#components/live/connection-note';
import { usePoll } from '#components/live/use-poll';
import type { ShownBalance } from '#lib/console/show/balance';

const everyMs = 5_000;

/** The available balance, updated while the page is visible. @param address URL of the current balance. */
export function BalanceChip({ balance, address }: { balance: ShownBalance; address: string }) {
  const [polled, setPolled] = useState({ from: balance, now: balance });
  // What the server renders again is newer than what was asked for before.
  const { available, exact, word } = polled.from === balance ? polled.now : balance;
  const connection = usePoll<ShownBalance>(address, everyMs, (now) => setPolled({ from: balance, now }));
  return (
    <div className="rounded-lg border bg-surface px-3 py-2.5" title={`$${exact}`}>
      <p className="flex items-center gap-1.5 text-muted text-xs">
        <Wallet aria-hidden className="size-3.5" />
        Available
      </p>
      <p className="mt-0.5 font-semibold text-base tabular-nums tracking-tight">{available}</p>
      {word ? (
        <p className={`mt-1 text-xs leading-4 ${word.tone === 'bad' ? 'text-bad' : 'text-warn'}`}>
          {word.text}
        </p>
      ) : null}
      {connection === 'live' ? null : <ConnectionNote connection={connection} />}
    </div>
  );
}
