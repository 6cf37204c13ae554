'use client';

import type { FormAnswer } from '#components/form/answer';
import { CreateButton } from '#components/form/create-button';
import type { FormField } from '#lib/console/form';

interface CreateManagementKeyProps {
  workspace: string;
  /** URL of the management API. */
  api: string;
  fields: readonly FormField[];
  /** Why none can be created; null: one can. */
  locked: string | null;
  create(workspace: string, input: unknown): Promise<FormAnswer<{ id: string; key: string }>>;
}

export function CreateManagementKey({ workspace, api, fields, locked, create }: CreateManagementKeyProps) {
  const curl = (secret: string) =>
    `curl ${api}/workspaces/${workspace} \\\n  -H "Authorization: Bearer ${secret}"`;
  return (
    <CreateButton
      label="Create management key"
      tone="primary"
      locked={locked}
      title="Create a management key"
      description="For scripts that manage this workspace through /api/v1. If you lose the role that the key needs, the key is revoked."
      fields={fields}
      initial={{ role: 'viewer' }}
      verb={{ idle: 'Create key', pending: 'Creating…' }}
      create={(input) => create(workspace, input)}
      shown={(secret, sent) => ({
        title: `Save the management key “${String(sent.name)}” now`,
        description:
          'It is shown only once. Anyone who has it can do what its role allows, without signing in.',
        what: 'management key',
        secret,
        use: { curl: { label: 'curl', code: curl(secret), what: 'curl command' } },
      })}
    />
  );
}
