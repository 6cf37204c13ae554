'use client';

import { Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useRef, useState } from 'react';
import type { Answer } from '#components/form/answer';
import { OperationForm } from '#components/form/operation-form';
import { ShownOnce } from '#components/keys/popups/secret-dialog';
import { Button } from '#components/ui/button';
import { Dialog } from '#components/ui/dialog';
import type { FormField } from '#lib/console/form';

interface CreateManagementKeyProps {
  workspace: string;
  /** Address of the management API. */
  api: string;
  fields: readonly FormField[];
  create(workspace: string, input: unknown): Promise<Answer<{ id: string; key: string }>>;
}

/** Stays on the page above the list, so that a list that turns up beside it takes no secret away. */
export function CreateManagementKey({ workspace, api, fields, create }: CreateManagementKeyProps) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<{ name: string; secret: string } | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const curl = `curl ${api}/workspaces/${workspace} \\\n  -H "Authorization: Bearer ${made?.secret ?? ''}"`;
  return (
    <>
      <Button tone="primary" ref={button} onClick={() => setOpen(true)}>
        <Plus />
        Create management key
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        finalFocus={button}
        title="Create a management key"
        description="For scripts that manage this workspace by /api/v1. It ends with your role: when you lose it, the key is revoked."
      >
        <OperationForm
          fields={fields}
          models={[]}
          initial={{ role: 'viewer' }}
          send={(input) => create(workspace, { role: 'viewer', ...(input as object) })}
          verb={{ idle: 'Create key', pending: 'Creating…' }}
          onCancel={() => setOpen(false)}
          onDone={({ key }, sent) => {
            setOpen(false);
            setMade({ name: String(sent.name), secret: key });
            router.refresh();
          }}
        />
      </Dialog>
      {made ? (
        <ShownOnce
          title={`Save the management key “${made.name}” now`}
          description="This is the only time it is shown. Whoever has it may do what its role may, without signing in."
          what="management key"
          secret={made.secret}
          finalFocus={button}
          onClose={() => setMade(null)}
          use={{ curl: { label: 'curl', code: curl, what: 'curl command' } }}
        />
      ) : null}
    </>
  );
}
