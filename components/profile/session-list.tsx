'use client';

import { useState } from 'react';
import { toast } from 'sonner';
import type { FormAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { Dialog, DialogFooter } from '#components/ui/dialog';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, Row, Table } from '#components/ui/table';
import type { SessionRow } from '#lib/console/account/session-rows';

interface SessionListProps {
  sessions: readonly SessionRow[];
  end(input: { id: string }): Promise<FormAnswer<unknown>>;
  endAll(input: unknown): Promise<FormAnswer<unknown>>;
}

/** The user's sessions, with buttons to end one or all of them. */
export function SessionList({ sessions, end, endAll }: SessionListProps) {
  const [asking, setAsking] = useState(false);
  const [ending, setEnding] = useState(false);
  const { pending: changing, make } = useChange();
  const pending = ending || changing;

  async function endEverywhere() {
    setEnding(true);
    const answer = await endAll({}).catch(() => null);
    if (answer?.ok || answer?.signedOut) {
      window.location.assign('/sign-in');
      return;
    }
    setEnding(false);
    setAsking(false);
    toast.error(answer?.message ?? 'The gateway did not answer. Try again.');
  }

  return (
    <>
      <Table label="Sessions" framed={false}>
        <thead>
          <tr>
            <SortHead by="device">Device</SortHead>
            <SortHead by="seen" descendingFirst usual="descending">
              Last seen
            </SortHead>
            <SortHead by="since" descendingFirst>
              Signed in
            </SortHead>
            <ActionsHeadCell />
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ id, current, device, facts, seen, since, from }) => (
            <Row key={id}>
              <Cell place="title">
                <span className="flex flex-wrap items-center gap-2 font-medium">
                  {device}
                  {current ? <Badge tone="good">This session</Badge> : null}
                </span>
                {from ? (
                  <span className="block text-muted text-xs leading-5 [overflow-wrap:anywhere]">{from}</span>
                ) : null}
              </Cell>
              <Cell label="Last seen" className="whitespace-nowrap" title={seen.exact}>
                {seen.text}
              </Cell>
              <Cell label="Signed in" className="whitespace-nowrap" title={since.exact}>
                {since.text}
              </Cell>
              <Cell place="menu" className="w-px">
                {current ? null : (
                  <Button
                    size="small"
                    disabled={pending}
                    aria-label={`Sign out ${device}, ${facts}`}
                    onClick={() => make(end({ id }), 'Session ended')}
                  >
                    Sign out
                  </Button>
                )}
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      <div className="border-t p-4">
        <Button disabled={pending} onClick={() => setAsking(true)}>
          Sign out everywhere
        </Button>
      </div>
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title="Sign out everywhere?"
        description="All sessions end, including this one. API keys keep working."
      >
        <DialogFooter>
          <Button onClick={() => setAsking(false)}>Cancel</Button>
          <Button tone="danger" disabled={pending} onClick={() => void endEverywhere()}>
            Sign out everywhere
          </Button>
        </DialogFooter>
      </Dialog>
    </>
  );
}
