'use client';

import { ConfirmDialog } from '#components/form/confirm-dialog';
import { useKeyPage } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';

interface RevokeDialogProps {
  row: KeyRow;
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Revoking cannot be undone, so the name must be typed. */
export function RevokeDialog({ row, open, onOpenChange }: RevokeDialogProps) {
  const { actions, workspace } = useKeyPage();
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Revoke ${row.name}?`}
      description={
        <>
          Every call with <code className="font-mono text-ink">{row.masked}</code> will be refused. Running
          calls finish. Logs and spend are kept. This cannot be undone.
        </>
      }
      typed={row.name}
      verb={{ idle: 'Revoke key', pending: 'Revoking…' }}
      keep="Keep key"
      act={() => actions.revoke(workspace, { id: row.id })}
      done={`${row.name} revoked`}
    />
  );
}
