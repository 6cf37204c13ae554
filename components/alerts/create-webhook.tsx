'use client';

import type { FormAnswer } from '#components/form/answer';
import { CreateButton } from '#components/form/create-button';
import type { FormField } from '#lib/console/form';

interface CreateWebhookProps {
  workspace: string;
  fields: readonly FormField[];
  create(workspace: string, input: unknown): Promise<FormAnswer<{ id: string; key: string }>>;
}

/** Signed as the guide of many libraries has it: any of them that takes "t=…,v1=…" verifies it. */
const check = (secret: string) => `import { createHmac, timingSafeEqual } from 'node:crypto';

const [t, v1] = header.split(',').map((part) => part.slice(part.indexOf('=') + 1));
const mac = createHmac('sha256', '${secret}').update(\`\${t}.\${body}\`).digest('hex');
const genuine = timingSafeEqual(Buffer.from(mac), Buffer.from(v1)) && Date.now() / 1000 - t < 300;`;

export function CreateWebhook({ workspace, fields, create }: CreateWebhookProps) {
  return (
    <CreateButton
      label="Add webhook"
      title="Add a webhook"
      description="Each alert is sent there as a signed POST, again and again for 24 hours until it is taken."
      fields={fields}
      verb={{ idle: 'Add webhook', pending: 'Adding…' }}
      create={(input) => create(workspace, input)}
      shown={(secret) => ({
        title: 'Save the secret of the webhook now',
        description:
          'This is the only time it is shown. With it your server tells our events from those of others.',
        what: 'webhook secret',
        secret,
        use: { node: { label: 'Node.js', code: check(secret), what: 'check of a signature' } },
      })}
    />
  );
}
