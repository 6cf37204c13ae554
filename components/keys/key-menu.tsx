'use client';

import {
  Ban,
  Ellipsis,
  Fingerprint,
  Pencil,
  Power,
  PowerOff,
  RotateCw,
  ScrollText,
  TimerOff,
  Undo2,
} from 'lucide-react';
import Link from 'next/link';
import { useRef, useState } from 'react';
import { EditDialog } from '#components/keys/edit-dialog';
import { useKeyPage } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';
import { RevokeDialog } from '#components/keys/revoke-dialog';
import { RotateDialog } from '#components/keys/rotate-dialog';
import { useKeyChange } from '#components/keys/use-key-change';
import { Button } from '#components/ui/button';
import { copyText } from '#components/ui/copy';
import { Menu, MenuItem, MenuSeparator } from '#components/ui/menu';
import { toast } from '#components/ui/toaster';

/** What may be done with a key. */
export function KeyMenu({ row }: { row: KeyRow }) {
  const { locked } = useKeyPage();
  const { change, pending } = useKeyChange(row);
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'revoke' | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (open: boolean) => {
    if (!open) setDialog(null);
  };
  const frozen = pending || locked !== null;

  function copyId() {
    copyText(row.id).then(
      () => toast.success(`Copied the id of ${row.name}`),
      () => toast.error('The browser refused to copy'),
    );
  }

  return (
    <>
      <Menu
        className="w-56"
        trigger={
          <Button
            ref={button}
            tone="quiet"
            size="icon"
            aria-label={`Actions for ${row.name}`}
            aria-busy={pending}
          >
            <Ellipsis />
          </Button>
        }
      >
        <MenuItem link={<Link href={row.logHref} prefetch={false} />}>
          <ScrollText />
          Calls of this key
        </MenuItem>
        <MenuItem onSelect={copyId}>
          <Fingerprint />
          Copy key id
        </MenuItem>
        {row.state === 'revoked' ? null : (
          <>
            <MenuSeparator />
            {locked ? <p className="px-2 py-1.5 text-muted text-xs leading-4">{locked}</p> : null}
            <MenuItem disabled={frozen} onSelect={() => setDialog('edit')}>
              <Pencil />
              Edit…
            </MenuItem>
            <MenuItem disabled={frozen} onSelect={() => setDialog('rotate')}>
              <RotateCw />
              Rotate…
            </MenuItem>
            {row.earlier ? (
              <MenuItem disabled={frozen} onSelect={() => change('endOverlap')}>
                <TimerOff />
                Stop the old secret now
              </MenuItem>
            ) : null}
            {row.exhausted ? (
              <MenuItem disabled={frozen} onSelect={() => change('restore')}>
                <Undo2 />
                Restore in spite of the quota
              </MenuItem>
            ) : null}
            <MenuItem
              disabled={frozen}
              onSelect={() => change(row.state === 'inactive' ? 'enable' : 'disable')}
            >
              {row.state === 'inactive' ? <Power /> : <PowerOff />}
              {row.state === 'inactive' ? 'Enable' : 'Disable'}
            </MenuItem>
            <MenuItem danger disabled={locked !== null} onSelect={() => setDialog('revoke')}>
              <Ban />
              Revoke…
            </MenuItem>
          </>
        )}
      </Menu>
      <EditDialog row={row} open={dialog === 'edit'} onOpenChange={close} />
      <RotateDialog row={row} open={dialog === 'rotate'} onOpenChange={close} finalFocus={button} />
      <RevokeDialog row={row} open={dialog === 'revoke'} onOpenChange={close} />
    </>
  );
}
