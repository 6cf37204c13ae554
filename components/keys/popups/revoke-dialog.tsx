'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, type ReactNode, useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { useKeyPage } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';
import { Field } from '#components/ui/field';
import { toast } from '#components/ui/toaster';

interface RevokeDialogProps {
  row: KeyRow;
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Revoking is final, so the name must be typed. */
export function RevokeDialog({ row, open, onOpenChange }: RevokeDialogProps) {
  const { actions, workspace } = useKeyPage();
  const router = useRouter();
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<ReactNode>();
  const [pending, startTransition] = useTransition();

  function close() {
    setTyped('');
    setError(undefined);
    onOpenChange(false);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (typed.trim() !== row.name) {
      setError(`Type ${row.name} exactly as it is written.`);
      return;
    }
    startTransition(async () => {
      const answer = await actions.revoke(workspace, { id: row.id });
      if (!answer.ok) {
        setError(
          <>
            {answer.message}
            {answer.signedOut ? <SignInAgain /> : null}
          </>,
        );
        return;
      }
      toast.success(`${row.name} is revoked`);
      close();
      router.refresh();
    });
  }

  return (
    <Dialog
      open={open}
      onOpenChange={(next) => (next ? onOpenChange(true) : close())}
      title={`Revoke ${row.name}?`}
      description={
        <>
          Every call with <code className="font-mono text-ink">{row.masked}</code> is refused from now on;
          calls that are running finish. This cannot be undone. Its log and spend stay.
        </>
      }
    >
      <form onSubmit={submit}>
        <DialogBody>
          <Field
            name="confirmation"
            label={
              <>
                Type <strong className="font-mono">{row.name}</strong> to confirm
              </>
            }
            value={typed}
            onValueChange={setTyped}
            error={error}
            autoComplete="off"
            spellCheck={false}
          />
        </DialogBody>
        <DialogFooter>
          <Button onClick={close}>Keep the key</Button>
          <Button type="submit" tone="danger" disabled={pending}>
            {pending ? 'Revoking…' : 'Revoke key'}
          </Button>
        </DialogFooter>
      </form>
    </Dialog>
  );
}
