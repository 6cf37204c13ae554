'use client';

import { type RefObject, useEffect, useState } from 'react';
import { curlSnippet, envSnippet, type SnippetFacts } from '#components/keys/snippets';
import { Button } from '#components/ui/button';
import { CodeBlock } from '#components/ui/code-block';
import { CopyButton } from '#components/ui/copy-button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';
import { Tabs } from '#components/ui/tabs';

interface SecretDialogProps {
  name: string;
  /** The key itself; it exists only in this dialog and is gone when the dialog closes. */
  secret: string;
  facts: SnippetFacts;
  /** A model that the key may call. */
  model: string;
  finalFocus: RefObject<HTMLElement | null>;
  onClose(): void;
}

/** Shows a new API key once. */
export function SecretDialog({ name, secret, facts, model, finalFocus, onClose }: SecretDialogProps) {
  return (
    <ShownOnce
      title={`Save the key “${name}” now`}
      description="It is shown only once. Store it in your server’s secrets, never in front-end code."
      what="API key"
      secret={secret}
      finalFocus={finalFocus}
      onClose={onClose}
      use={{
        curl: { label: 'curl', code: curlSnippet(secret, facts, model), what: 'curl command' },
        env: { label: '.env', code: envSnippet(secret, facts), what: '.env lines' },
      }}
    />
  );
}

/** What to show with a secret. */
export interface ShownSecret {
  title: string;
  description: string;
  /** What the secret is, for the copy button: "API key". */
  what: string;
  secret: string;
  /** Ready-to-paste snippets with the secret, by tab. */
  use: Readonly<Record<string, { readonly label: string; readonly code: string; readonly what: string }>>;
}

interface ShownOnceProps extends ShownSecret {
  finalFocus: RefObject<HTMLElement | null>;
  onClose(): void;
}

/** Shows a secret once. Esc, a click outside and Back do not close it, and a reload asks first. */
export function ShownOnce({ title, description, what, secret, use, finalFocus, onClose }: ShownOnceProps) {
  const [mayClose, setMayClose] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setMayClose(true), 2_000);
    return () => clearTimeout(timer);
  }, []);
  useKeepPage();

  return (
    <Dialog
      open
      sticky
      onOpenChange={onClose}
      finalFocus={finalFocus}
      className="max-w-xl"
      title={title}
      description={description}
    >
      <DialogBody>
        <div className="flex flex-wrap items-center gap-2 rounded-lg border border-accent bg-accent-soft p-2.5 pl-3.5">
          <code data-testid="secret" className="min-w-0 flex-1 basis-64 break-all font-mono text-sm">
            {secret}
          </code>
          <CopyButton
            value={secret}
            what={what}
            text={what === 'API key' ? 'Copy key' : 'Copy'}
            tone="primary"
            onCopied={() => setMayClose(true)}
          />
        </div>
        <Tabs
          label="Use it"
          tabs={Object.entries(use).map(([value, { label, code, what: named }]) => ({
            value,
            label,
            content: <CodeBlock code={code} what={named} />,
          }))}
        />
      </DialogBody>
      <DialogFooter>
        <Button tone="primary" disabled={!mayClose} onClick={onClose}>
          I’ve saved it
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** While the calling component is mounted, Back stays on this page and a reload asks first. */
function useKeepPage(): void {
  useEffect(() => {
    const stay = () => window.history.pushState(window.history.state, '', window.location.href);
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    stay();
    window.addEventListener('popstate', stay);
    window.addEventListener('beforeunload', ask);
    return () => {
      window.removeEventListener('popstate', stay);
      window.removeEventListener('beforeunload', ask);
    };
  }, []);
}
