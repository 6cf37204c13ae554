'use client';

import { Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { KeyForm } from '#components/keys/key-form';
import { SecretDialog } from '#components/keys/secret-dialog';
import type { SnippetFacts } from '#components/keys/snippets';
import { Button } from '#components/ui/button';
import { Dialog } from '#components/ui/dialog';
import { Tooltip } from '#components/ui/tooltip';

interface CreateKeyProps {
  workspace: string;
  models: readonly string[];
  facts: SnippetFacts;
  /** Why this member may not create keys; null when they may. */
  locked: string | null;
}

/** The button, the form, and the secret that the form leads to. */
export function CreateKey({ workspace, models, facts, locked }: CreateKeyProps) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const [created, setCreated] = useState<{ name: string; secret: string; model: string } | null>(null);
  if (locked) {
    return (
      <Tooltip content={locked}>
        <Button tone="primary" aria-disabled aria-description={locked}>
          <Plus />
          Create key
        </Button>
      </Tooltip>
    );
  }
  return (
    <>
      <Button tone="primary" onClick={() => setOpen(true)}>
        <Plus />
        Create key
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Create an API key"
        description="It works on this gateway at once, on every other machine within 2 seconds."
      >
        <KeyForm
          workspace={workspace}
          models={models}
          onCancel={() => setOpen(false)}
          onCreated={(made) => {
            setOpen(false);
            setCreated(made);
            router.refresh();
          }}
        />
      </Dialog>
      {created ? (
        <SecretDialog
          name={created.name}
          secret={created.secret}
          facts={{ ...facts, model: created.model || facts.model }}
          onClose={() => setCreated(null)}
        />
      ) : null}
    </>
  );
}
