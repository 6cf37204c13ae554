'use client';

import { ChangeList } from '#components/routing/version-list';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';

interface PublishDialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  /** The version number that it gets. */
  version: number;
  model: string | null;
  changes: readonly string[];
  pending: boolean;
  onPublish(): void;
}

/** The changes that publishing puts in force. */
export function PublishDialog(props: PublishDialogProps) {
  const { open, onOpenChange, version, model, changes, pending, onPublish } = props;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Publish version ${version}?`}
      description={
        model === null
          ? 'This workspace’s calls will be routed by this version. You can roll back at any time.'
          : `Calls for ${model} will be routed by this version. You can roll back at any time.`
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
