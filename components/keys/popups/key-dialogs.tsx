'use client';

import type { RefObject } from 'react';
import type { KeyRow } from '#components/keys/key-row';
import { EditDialog } from '#components/keys/popups/edit-dialog';
import { RevokeDialog } from '#components/keys/popups/revoke-dialog';
import { RotateDialog } from '#components/keys/popups/rotate-dialog';

export type DialogOfKey = 'edit' | 'rotate' | 'revoke';

interface KeyDialogsProps {
  row: KeyRow;
  /** The open dialog. */
  dialog: DialogOfKey | null;
  onClose(): void;
  /** Gets the focus back. */
  button: RefObject<HTMLButtonElement | null>;
}

/** The dialogs of the key menu. */
export function KeyDialogs({ row, dialog, onClose, button }: KeyDialogsProps) {
  const close = (open: boolean) => {
    if (!open) onClose();
  };
  return (
    <>
      <EditDialog row={row} open={dialog === 'edit'} onOpenChange={close} />
      <RotateDialog row={row} open={dialog === 'rotate'} onOpenChange={close} finalFocus={button} />
      <RevokeDialog row={row} open={dialog === 'revoke'} onOpenChange={close} />
    </>
  );
}
