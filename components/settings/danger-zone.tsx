'use client';

import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { Button } from '#components/ui/button';

interface DangerZoneProps {
  workspace: string;
  name: string;
  /** What is lost, one sentence each. */
  losses: readonly string[];
  /** What has to end first; null: nothing. */
  blocked: string | null;
  remove(workspace: string, input: { confirm: string }): Promise<FormAnswer<unknown>>;
}

/** Deletes a workspace. */
export function DangerZone({ workspace, name, losses, blocked, remove }: DangerZoneProps) {
  const [open, setOpen] = useState(false);
  return (
    <div className="grid justify-items-start gap-3 p-4">
      <p className="max-w-2xl text-muted leading-6">
        This deletes the workspace for all members, immediately and permanently. The gateway’s operators keep
        its call log and ledger.
      </p>
      {blocked ? <p className="text-warn leading-5">{blocked}</p> : null}
      <Button tone="danger" disabled={blocked !== null} onClick={() => setOpen(true)}>
        Delete workspace…
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={<span className="[overflow-wrap:anywhere]">Delete {name}?</span>}
        description="This cannot be undone. What is lost:"
        typed={workspace}
        verb={{ idle: 'Delete workspace', pending: 'Deleting…' }}
        keep="Keep workspace"
        act={() => remove(workspace, { confirm: workspace })}
        done="Workspace deleted"
        onDone={() => window.location.assign('/')}
      >
        <ul className="ml-4 grid list-disc gap-1 text-sm leading-5">
          {losses.map((loss) => (
            <li key={loss}>{loss}</li>
          ))}
        </ul>
      </ConfirmDialog>
    </div>
  );
}
