'use client';

import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { TriedPriceFigures } from '#components/operator/tried-price';
import { Button } from '#components/ui/button';
import { Checkbox } from '#components/ui/checkbox';
import type { TriedPrice } from '#lib/console/gateway/price-effect';

export interface Comparison {
  readonly changes: readonly string[];
  readonly leftOut: readonly string[];
  readonly prices: readonly (TriedPrice & {
    readonly model: string;
    readonly provider: string;
    readonly before: string;
    readonly after: string;
  })[];
}

interface CatalogueChangesProps {
  comparison: Comparison;
  apply(input: { prune: boolean }): Promise<FormAnswer<unknown>>;
  /** Called after applying, to show the new state. */
  onApplied(): void;
}

/** The changes, the effect of the new prices on last week's calls, and the Apply button. */
export function CatalogueChanges({ comparison, apply, onApplied }: CatalogueChangesProps) {
  const { changes, leftOut, prices } = comparison;
  const [prune, setPrune] = useState(false);
  const [asked, ask] = useState(false);
  const count = changes.length + (prune ? leftOut.length : 0);
  const things = count === 1 ? '1 change' : `${count} changes`;
  return (
    <div className="grid gap-4 px-4 py-4">
      {changes.length === 0 ? (
        <p className="text-muted leading-5">These files match the gateway’s catalogue.</p>
      ) : (
        <ul className="grid gap-1 font-mono text-xs leading-5">
          {changes.map((line) => (
            <li key={line} className="[overflow-wrap:anywhere]">
              {line}
            </li>
          ))}
        </ul>
      )}
      {prices.map((price) => (
        <section
          key={`${price.model} ${price.provider}`}
          aria-label={`Price of ${price.model} at ${price.provider}`}
          className="grid gap-2 rounded-lg border bg-sunken/60 px-4 py-3"
        >
          <h3 className="text-[0.8125rem] leading-5 [overflow-wrap:anywhere]">
            <span className="font-medium">{price.model}</span> at {price.provider}:{' '}
            <span className="text-muted">{price.before}</span> → {price.after}
          </h3>
          <TriedPriceFigures effect={price} />
        </section>
      ))}
      {leftOut.length > 0 ? (
        <div className="grid gap-2">
          <p className="leading-5">
            These are missing from the files. They stay in use unless you withdraw them:
          </p>
          <ul className="grid gap-1 font-mono text-muted text-xs leading-5">
            {leftOut.map((line) => (
              <li key={line} className="[overflow-wrap:anywhere]">
                {line}
              </li>
            ))}
          </ul>
          <Checkbox checked={prune} onChange={setPrune}>
            Withdraw them
          </Checkbox>
        </div>
      ) : null}
      {changes.length + leftOut.length > 0 ? (
        <div>
          <Button tone="primary" disabled={count === 0} onClick={() => ask(true)}>
            Apply {count === 0 ? '' : things}
          </Button>
        </div>
      ) : null}
      <ConfirmDialog
        open={asked}
        onOpenChange={ask}
        title={`Apply ${things}?`}
        description="New calls use the changes within 2 seconds. Everything else in the catalogue stays."
        verb={{ idle: 'Apply', pending: 'Applying…' }}
        tone="primary"
        act={() => apply({ prune })}
        done="Catalogue applied"
        onDone={() => {
          ask(false);
          onApplied();
        }}
      />
    </div>
  );
}
