'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, type RefObject, useState, useTransition } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { useKeyPage } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';
import { SecretDialog } from '#components/keys/popups/secret-dialog';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';
import { labelStyle } from '#components/ui/field';
import { ToggleGroup } from '#components/ui/toggle-group';

const overlaps = [
  { value: '0', label: 'Now', told: 'The old secret stops working as soon as the new one is created.' },
  { value: '3600', label: '1 hour', told: 'Both secrets work for an hour.' },
  { value: '86400', label: '24 hours', told: 'Both secrets work for a day.' },
  { value: '604800', label: '7 days', told: 'Both secrets work for a week.' },
] as const;
type Overlap = (typeof overlaps)[number]['value'];

interface RotateDialogProps {
  row: KeyRow;
  open: boolean;
  onOpenChange(open: boolean): void;
  finalFocus: RefObject<HTMLElement | null>;
}

/** Creates a new secret for a key; the user chooses when the old one stops working. */
export function RotateDialog({ row, open, onOpenChange, finalFocus }: RotateDialogProps) {
  const { actions, workspace, facts } = useKeyPage();
  const router = useRouter();
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const [fault, setFault] = useState<Extract<FormAnswer<unknown>, { ok: false }> | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [pending, startTransition] = useTransition();

  function submit(event: FormEvent) {
    event.preventDefault();
    startTransition(async () => {
      const answer = await actions.rotate(workspace, { id: row.id, overlapSeconds: overlap });
      if (!answer.ok) {
        setFault(answer);
        return;
      }
      setFault(null);
      onOpenChange(false);
      setSecret(answer.value.key);
      router.refresh();
    });
  }

  return (
    <>
      <Dialog
        open={open}
        onOpenChange={onOpenChange}
        title={`Rotate ${row.name}`}
        description="The key gets a new secret and keeps its name, settings, spend and log."
        finalFocus={secret === null ? finalFocus : false}
      >
        <form onSubmit={submit}>
          <DialogBody>
            <FaultLine fault={fault} framed />
            <fieldset className="grid gap-2">
              <legend className={`${labelStyle} mb-1.5`}>
                The old secret <code className="font-mono text-xs">{row.masked}</code> stops{' '}
              </legend>
              <div>
                <ToggleGroup<Overlap>
                  label="When the old secret stops"
                  value={overlap}
                  options={overlaps}
                  onChange={setOverlap}
                />
              </div>
              <p className="text-[0.8125rem] text-muted leading-5" aria-live="polite">
                {overlaps.find(({ value }) => value === overlap)?.told}
                {overlap === '0'
                  ? ' Choose this if the old secret has leaked.'
                  : ' You can stop the old secret earlier.'}
              </p>
            </fieldset>
            {row.earlier ? (
              <p className="rounded-md bg-warn-soft px-3 py-2 text-[0.8125rem] text-warn leading-5">
                <code className="font-mono">{row.earlier.masked}</code> from the previous rotation works until{' '}
                {row.earlier.until}. It stops working now: a key can have at most two secrets.
              </p>
            ) : null}
          </DialogBody>
          <DialogFooter>
            <Button onClick={() => onOpenChange(false)}>Cancel</Button>
            <Button type="submit" tone="primary" disabled={pending}>
              {pending ? 'Rotating…' : 'Rotate key'}
            </Button>
          </DialogFooter>
        </form>
      </Dialog>
      {secret === null ? null : (
        <SecretDialog
          name={row.name}
          secret={secret}
          facts={facts}
          model={row.models?.[0] ?? facts.model}
          finalFocus={finalFocus}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  );
}
