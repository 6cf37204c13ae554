'use client';

import type { FormAnswer } from '#components/form/answer';
import { CreateButton } from '#components/form/create-button';
import type { FormField } from '#lib/console/form';

interface CreateWebhookProps {
  workspace: string;
  fields: readonly FormField[];
  create(workspace: string, input: unknown): Promise<FormAnswer<{ id: string; key: string }>>;
}

/** Example signature check. The scheme is common: any library that accepts "t=…,v1=…" verifies it. */
const check = (secret: string) => `import { createHmac, timingSafeEqual } from 'node:crypto';

const [t, v1] = header.split(',').map((part) => part.slice(part.indexOf('=') + 1));
const mac = createHmac('sha256', '${secret}').update(\`\${t}.\${body}\`).digest('hex');
const genuine = timingSafeEqual(Buffer.from(mac), Buffer.from(v1)) && Date.now() / 1000 - t < 300;`;

export function CreateWebhook({ workspace, fields, create }: CreateWebhookProps) {
  return (
    <CreateButton
      label="Add webhook"
      title="Add a webhook"
      description="Each alert is sent to this address as a signed POST. Failed deliveries are retried for 24 hours."
      fields={fields}
      verb={{ idle: 'Add webhook', pending: 'Adding…' }}
      create={(input) => create(workspace, input)}
      shown={(secret) => ({
        title: 'Save the webhook secret now',
        description:
          'It is shown only once. Your server uses it to verify that events come from this gateway.',
        what: 'webhook secret',
        secret,
        use: { node: { label: 'Node.js', code: check(secret), what: 'signature check' } },
      })}
    />
  );
}
