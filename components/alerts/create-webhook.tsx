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

interface CreateWebhookProps {
  workspace: string;
  fields: readonly FormField[];
  create(workspace: string, input: unknown): Promise<Answer<{ id: string; key: string }>>;
}

/** Signed as the guide of many libraries has it: any of them that takes "t=…,v1=…" verifies it. */
const check = (secret: string) => `import { createHmac, timingSafeEqual } from 'node:crypto';

const [t, v1] = header.split(',').map((part) => part.slice(part.indexOf('=') + 1));
const mac = createHmac('sha256', '${secret}').update(\`\${t}.\${body}\`).digest('hex');
const genuine = timingSafeEqual(Buffer.from(mac), Buffer.from(v1)) && Date.now() / 1000 - t < 300;`;

export function CreateWebhook({ workspace, fields, create }: CreateWebhookProps) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Button ref={button} onClick={() => setOpen(true)}>
        <Plus />
        Add webhook
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        finalFocus={button}
        title="Add a webhook"
        description="Each alert is sent there as a signed POST, again and again for 24 hours until it is taken."
      >
        <OperationForm
          fields={fields}
          models={[]}
          send={(input) => create(workspace, input)}
          verb={{ idle: 'Add webhook', pending: 'Adding…' }}
          onCancel={() => setOpen(false)}
          onDone={({ key }) => {
            setOpen(false);
            setSecret(key);
            router.refresh();
          }}
        />
      </Dialog>
      {secret ? (
        <ShownOnce
          title="Save the secret of the webhook now"
          description="This is the only time it is shown. With it your server tells our events from those of others."
          what="webhook secret"
          secret={secret}
          finalFocus={button}
          onClose={() => setSecret(null)}
          use={{ node: { label: 'Node.js', code: check(secret), what: 'check of a signature' } }}
        />
      ) : null}
    </>
  );
}
