'use client';

import { Dialog, DialogBody } from '#components/ui/dialog';
import { Kbd } from '#components/ui/kbd';
import { useCommandKey } from '#components/ui/use-command-key';

const shortcuts = [
  { keys: ['K'], command: true, does: 'Search pages, keys, models and calls' },
  { keys: ['/'], command: false, does: 'Go to the page’s search box' },
  { keys: ['?'], command: false, does: 'Show keyboard shortcuts' },
  { keys: ['Esc'], command: false, does: 'Close the open menu or dialog' },
] as const;

interface ShortcutsProps {
  open: boolean;
  onOpenChange(open: boolean): void;
}

export function Shortcuts({ open, onOpenChange }: ShortcutsProps) {
  const commandKey = useCommandKey();
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Keyboard shortcuts"
      description="Single keys work while you are not typing."
    >
      <DialogBody>
        <dl className="grid gap-2.5 pb-2">
          {shortcuts.map(({ keys, command, does }) => (
            <div key={does} className="flex items-center justify-between gap-4">
              <dt>{does}</dt>
              <dd className="flex gap-1.5">
                {command ? <Kbd>{commandKey}</Kbd> : null}
                {keys.map((key) => (
                  <Kbd key={key}>{key}</Kbd>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      </DialogBody>
    </Dialog>
  );
}
