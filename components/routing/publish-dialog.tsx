'use client';

import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';

interface PublishDialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  /** The one that it becomes. */
  version: number;
  model: string | null;
  changes: readonly string[];
  pending: boolean;
  onPublish(): void;
}

/** What is about to be put in force, in words. */
export function PublishDialog(props: PublishDialogProps) {
  const { open, onOpenChange, version, model, changes, pending, onPublish } = props;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Publish version ${version}?`}
      description={
        model === null
          ? 'Calls of this workspace are routed by it from now on. You can roll back at any time.'
          : `Calls for ${model} are routed by it from now on. You can roll back at any time.`
      }
    >
      <DialogBody>
        <ChangeList changes={changes} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={() => onOpenChange(false)}>Keep editing</Button>
        <Button tone="primary" onClick={onPublish} disabled={pending}>
          {pending ? 'Publishing…' : 'Publish'}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** What a version changed of the one before. */
export function ChangeList({ changes }: { changes: readonly string[] }) {
  if (changes.length === 0) return <p className="text-[0.8125rem] text-muted">Nothing differs.</p>;
  return (
    <ul className="grid gap-1 text-[0.8125rem] leading-5">
      {changes.map((change, at) => {
        const [key = '', ...rest] = change.split(': ');
        const again = at > 0 && changes[at - 1]?.startsWith(`${key}: `);
        return (
          <li key={change} className="grid gap-x-2 sm:grid-cols-[9.5rem_minmax(0,1fr)]">
            <span className={again ? 'sr-only sm:not-sr-only sm:invisible' : 'text-muted'}>{key}</span>
            <span className="[overflow-wrap:anywhere]">{rest.join(': ')}</span>
          </li>
        );
      })}
    </ul>
  );
}
