'use client';

import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { TriedPriceFigures } from '#components/operator/tried-price';
import { Section } from '#components/section';
import { Button } from '#components/ui/button';
import { Checkbox } from '#components/ui/checkbox';
import type { ProposalGroup, ProposalRow } from '#lib/console/gateway/proposals';

interface ProposalListProps {
  groups: readonly ProposalGroup[];
  /** Whether they are the dismissed ones. */
  dismissed: boolean;
  accept(input: { proposals: readonly string[] }): Promise<FormAnswer<unknown>>;
  dismiss(input: { proposals: readonly string[]; undo: boolean }): Promise<FormAnswer<unknown>>;
}

/** What was asked about which proposals; they stay named if the page changes meanwhile. */
interface Question {
  readonly to: 'accept' | 'dismiss';
  readonly ids: readonly string[];
  readonly open: boolean;
}

/** Proposals by kind, of which some or all are accepted or dismissed together. */
export function ProposalList({ groups, dismissed, accept, dismiss }: ProposalListProps) {
  const [marked, mark] = useState<ReadonlySet<string>>(new Set());
  const [asked, ask] = useState<Question | null>(null);
  // What is not current any more has left the list.
  const chosen = groups.flatMap(({ rows }) => rows.map(({ id }) => id).filter((id) => marked.has(id)));
  const toggle = (ids: readonly string[], on: boolean) => {
    const next = new Set(marked);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    mark(next);
  };
  const proposals = asked?.ids ?? [];
  const things = proposals.length === 1 ? '1 proposal' : `${proposals.length} proposals`;
  const turn = (open: boolean) => {
    if (!open && asked) ask({ ...asked, open });
  };
  const away = dismissed ? 'Show again' : 'Dismiss';
  return (
    <div className="grid gap-4">
      {groups.map(({ title, note, rows }) => {
        const ids = rows.map(({ id }) => id);
        const all = ids.every((id) => marked.has(id));
        return (
          <Section key={title} title={title} note={note}>
            {rows.length > 1 ? (
              <div className="border-b bg-sunken/60 px-2 py-0.5">
                <Checkbox checked={all} onChange={(on) => toggle(ids, on)}>
                  <span className="text-muted">All {rows.length}</span>
                </Checkbox>
              </div>
            ) : null}
            <ul className="divide-y">
              {rows.map((row) => (
                <li key={row.id} className="px-2 py-1.5">
                  <Checkbox checked={marked.has(row.id)} onChange={(on) => toggle([row.id], on)}>
                    <ProposalLine row={row} />
                  </Checkbox>
                  {row.effect ? (
                    <div className="py-2 pr-2 pl-8.5">
                      <TriedPriceFigures effect={row.effect} />
                    </div>
                  ) : null}
                </li>
              ))}
            </ul>
          </Section>
        );
      })}
      <div className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t bg-canvas py-3">
        <Button
          tone="primary"
          disabled={chosen.length === 0}
          onClick={() => ask({ to: 'accept', ids: chosen, open: true })}
        >
          Accept {chosen.length === 0 ? '' : chosen.length}
        </Button>
        <Button
          disabled={chosen.length === 0}
          onClick={() => ask({ to: 'dismiss', ids: chosen, open: true })}
        >
          {away} {chosen.length === 0 ? '' : chosen.length}
        </Button>
        <span aria-live="polite" className="text-muted text-xs">
          {chosen.length === 0 ? 'Choose proposals to accept or dismiss.' : ''}
        </span>
      </div>
      <ConfirmDialog
        open={asked?.to === 'accept' && asked.open}
        onOpenChange={turn}
        title={`Accept ${things}?`}
        description="All of them are applied, or none if one is no longer current. New calls use the new prices within 2 seconds."
        verb={{ idle: 'Accept', pending: 'Accepting…' }}
        tone="primary"
        act={() => accept({ proposals })}
        done={`${things} accepted`}
      />
      <ConfirmDialog
        open={asked?.to === 'dismiss' && asked.open}
        onOpenChange={turn}
        title={`${away} ${things}?`}
        description={
          dismissed
            ? 'They are listed with the other proposals again.'
            : 'They are hidden until the price in force or the proposed one changes.'
        }
        verb={{ idle: away, pending: 'Saving…' }}
        tone="primary"
        act={() => dismiss({ proposals, undo: dismissed })}
        done={dismissed ? `${things} shown again` : `${things} dismissed`}
      />
    </div>
  );
}

function ProposalLine({ row }: { row: ProposalRow }) {
  const { model, provider, before, after, tables, notes, use } = row;
  return (
    <span className="grid gap-0.5 text-[0.8125rem] leading-5 [overflow-wrap:anywhere]">
      <span>
        <span className="font-medium">{model}</span> <span className="text-muted">at {provider}</span>
      </span>
      <span>
        {before === null ? null : <span className="text-muted">{before} → </span>}
        {after}
        <span className="text-muted text-xs"> · {tables}</span>
      </span>
      {notes.map((note) => (
        <span key={note} className="text-warn text-xs leading-4">
          {note}
        </span>
      ))}
      {use === null ? null : <span className="text-muted text-xs leading-4">{use}</span>}
    </span>
  );
}
