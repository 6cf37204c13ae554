'use client';

import {
  Ban,
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
import { Suspense, useRef, useState } from 'react';
import { useKeyPage } from '#components/keys/key-actions';
import { KeyMenuButton } from '#components/keys/key-menu-button';
import type { KeyRow } from '#components/keys/key-row';
import type { DialogOfKey } from '#components/keys/popups/key-dialogs';
import { useKeyChange } from '#components/keys/use-key-change';
import { copyText } from '#components/ui/copy';
import { Menu, MenuItem, MenuSeparator } from '#components/ui/menu';
import { later } from '#components/ui/on-demand';
import { toast } from '#components/ui/toaster';

const KeyDialogs = later(() => import('#components/keys/popups/key-dialogs').then((all) => all.KeyDialogs));

/** The actions on a key; open when it first appears. */
export function OpenKeyMenu({ row }: { row: KeyRow }) {
  const { locked } = useKeyPage();
  const { change, pending } = useKeyChange(row);
  const [dialog, setDialog] = useState<DialogOfKey | null>(null);
  // Loaded with the first dialog and kept: one of the dialogs shows a secret after it has closed.
  const [wanted, want] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const ask = (next: DialogOfKey) => {
    want(true);
    setDialog(next);
  };
  const frozen = pending || locked !== null;

  function copyId() {
    copyText(row.id).then(
      () => toast.success(`Copied the id of ${row.name}`),
      () => toast.error('The browser blocked copying'),
    );
  }

  return (
    <>
      <Menu
        className="w-56"
        startOpen
        trigger={<KeyMenuButton ref={button} name={row.name} aria-busy={pending} />}
      >
        <MenuItem link={<Link href={row.logHref} prefetch={false} />}>
          <ScrollText />
          View calls
        </MenuItem>
        <MenuItem onSelect={copyId}>
          <Fingerprint />
          Copy key id
        </MenuItem>
        {row.revoked ? null : (
          <>
            <MenuSeparator />
            {locked ? <p className="px-2 py-1.5 text-muted text-xs leading-4">{locked}</p> : null}
            <MenuItem disabled={frozen} onSelect={() => ask('edit')}>
              <Pencil />
              Edit…
            </MenuItem>
            <MenuItem disabled={frozen} onSelect={() => ask('rotate')}>
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
                Restore despite the quota
              </MenuItem>
            ) : null}
            <MenuItem disabled={frozen} onSelect={() => change(row.active ? 'disable' : 'enable')}>
              {row.active ? <PowerOff /> : <Power />}
              {row.active ? 'Disable' : 'Enable'}
            </MenuItem>
            <MenuItem danger disabled={locked !== null} onSelect={() => ask('revoke')}>
              <Ban />
              Revoke…
            </MenuItem>
          </>
        )}
      </Menu>
      {wanted ? (
        <Suspense fallback={null}>
          <KeyDialogs row={row} dialog={dialog} onClose={() => setDialog(null)} button={button} />
        </Suspense>
      ) : null}
    </>
  );
}
