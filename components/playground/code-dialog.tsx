'use client';

import { CopyButton } from '#components/ui/copy-button';
import { Dialog, DialogBody } from '#components/ui/dialog';
import { Tabs } from '#components/ui/tabs';
import { codeOf, type Example, shortened } from '#lib/console/playground/code';
import type { PlaygroundRequest } from '#lib/console/playground/draft';

interface CodeDialogProps {
  request: PlaygroundRequest;
  examples: readonly Example[];
  onClose(): void;
}

/** The request as code for each SDK of its protocol. */
export function CodeDialog({ request, examples, onClose }: CodeDialogProps) {
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Code"
      description="The body is exactly what was sent. Set GATEWAY_API_KEY to an API key of your workspace."
      className="max-w-3xl"
    >
      <DialogBody>
        <Tabs
          label="SDK"
          tabs={codeOf(request, examples).map(({ name, label, code }) => ({
            value: name,
            label,
            content: (
              <div className="relative min-w-0 rounded-md border bg-sunken">
                <pre className="max-h-[60vh] overflow-auto whitespace-pre-wrap p-3 pr-12 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
                  <code>{shortened(code)}</code>
                </pre>
                <span className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
                  <CopyButton value={code} what={label} />
                </span>
              </div>
            ),
          }))}
        />
      </DialogBody>
    </Dialog>
  );
}
