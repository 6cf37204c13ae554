'use client';

import { useId, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';

interface SetPriceProps {
  model: string;
  provider: string;
  /** The version in force that the user saw. */
  replaces: string;
  /** The previewed price, as JSON; `words` has it as text. */
  price: string;
  words: string;
  set(input: object): Promise<FormAnswer<unknown>>;
}

/** Puts a previewed price in force, now or at a later time. */
export function SetPrice({ model, provider, replaces, price, words, set }: SetPriceProps) {
  const [asked, ask] = useState(false);
  const [from, setFrom] = useState('');
  const id = useId();
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="grid gap-1.5">
        <label htmlFor={id} className="font-medium text-[0.8125rem]">
          In effect from, in UTC <span className="font-normal text-muted">(leave empty for now)</span>
        </label>
        <Input
          id={id}
          type="datetime-local"
          className="w-60"
          value={from}
          onChange={(event) => setFrom(event.target.value)}
        />
      </div>
      <Button onClick={() => ask(true)}>Set this price…</Button>
      <ConfirmDialog
        open={asked}
        onOpenChange={ask}
        title={`Set the price of ${model} at ${provider}?`}
        description={
          <>
            {words}, {from === '' ? 'from now on' : `from ${from.replace('T', ', ')} UTC`}. Calls admitted
            before then keep their price.
          </>
        }
        verb={{ idle: 'Set price', pending: 'Setting…' }}
        tone="primary"
        act={() => set({ model, provider, price, replaces, effectiveAt: from === '' ? '' : `${from}:00Z` })}
        done={from === '' ? 'Price set' : 'Price scheduled'}
      />
    </div>
  );
}
