'use client';

import { Ban, Ellipsis, Fingerprint, Power, PowerOff, ScrollText } from 'lucide-react';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { signInAddress } from '#components/account/sign-in-again';
import { useKeyActions } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';
import { RevokeDialog } from '#components/keys/revoke-dialog';
import { Button } from '#components/ui/button';
import { copyText } from '#components/ui/copy';
import { Menu, MenuItem, MenuSeparator } from '#components/ui/menu';
import { toast } from '#components/ui/toaster';

interface KeyMenuProps {
  row: KeyRow;
  workspace: string;
  /** Why nothing may be changed here; null when it may. */
  locked: string | null;
}

export function KeyMenu({ row, workspace, locked }: KeyMenuProps) {
  const actions = useKeyActions();
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  const [revoking, setRevoking] = useState(false);
  const enabled = row.state !== 'inactive';

  function toggle(to: 'enable' | 'disable') {
    startTransition(async () => {
      const answer = await actions[to](workspace, { id: row.id });
      if (!answer.ok) {
        refuse(answer);
        return;
      }
      const undo = to === 'disable' ? { label: 'Undo', onClick: () => toggle('enable') } : undefined;
      toast.success(to === 'disable' ? `${row.name} is disabled` : `${row.name} is enabled`, {
        description: 'In force here now, on other machines within 2 seconds.',
        ...(undo ? { action: undo } : {}),
      });
      router.refresh();
    });
  }

  /** What this page shows of the key may be out of date, so it is read again. */
  function refuse({ message, signedOut }: { message: string; signedOut: boolean }) {
    if (signedOut) {
      const signIn = { label: 'Sign in', onClick: () => window.location.assign(signInAddress()) };
      toast.error(message, { action: signIn, duration: Number.POSITIVE_INFINITY });
      return;
    }
    toast.error(message);
    router.refresh();
  }

  function copyId() {
    copyText(row.id).then(
      () => toast.success(`Copied the id of ${row.name}`),
      () => toast.error('The browser refused to copy'),
    );
  }

  return (
    <>
      <Menu
        className="w-52"
        trigger={
          <Button tone="quiet" size="icon" aria-label={`Actions for ${row.name}`} aria-busy={pending}>
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
            <MenuItem
              disabled={pending || locked !== null}
              onSelect={() => toggle(enabled ? 'disable' : 'enable')}
            >
              {enabled ? <PowerOff /> : <Power />}
              {enabled ? 'Disable' : 'Enable'}
            </MenuItem>
            <MenuItem danger disabled={locked !== null} onSelect={() => setRevoking(true)}>
              <Ban />
              Revoke…
            </MenuItem>
          </>
        )}
      </Menu>
      <RevokeDialog
        row={row}
        workspace={workspace}
        open={revoking}
        onOpenChange={setRevoking}
        onRevoked={() => router.refresh()}
      />
    </>
  );
}
