'use client';

import type { ReactNode } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { SettingsForm } from '#components/settings/settings-form';
import type { FormField } from '#lib/console/form';

interface SlugFormProps {
  workspace: string;
  field: FormField;
  locked: string | null;
  rename(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<{ slug: string }>>;
  children: ReactNode;
}

/** Changes the slug, then opens the same page at its new URL. */
export function SlugForm({ workspace, field, locked, rename, children }: SlugFormProps) {
  async function send(slug: string, input: Readonly<Record<string, unknown>>) {
    const answer = await rename(slug, input);
    if (answer.ok && answer.value.slug !== slug) window.location.assign(`/${answer.value.slug}/settings`);
    return answer;
  }
  return (
    <SettingsForm
      workspace={workspace}
      fields={[field]}
      initial={{ slug: workspace }}
      locked={locked}
      send={send}
      saved="Slug saved"
    >
      {children}
    </SettingsForm>
  );
}
