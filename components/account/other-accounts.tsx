'use client';

import { signIn } from 'next-auth/react';
import { useState } from 'react';
import { Button } from '#components/ui/button';

const names: Readonly<Record<string, string>> = { github: 'GitHub', google: 'Google' };

export function providerName(provider: string): string {
  return names[provider] ?? provider;
}

interface OtherAccountsProps {
  /** The providers that this gateway is configured for. */
  providers: readonly string[];
  /** Console path to go to afterwards. */
  target: string;
  /** Saves the browser's time zone for a workspace that is created on the way back. */
  rememberZone(zone: string): Promise<unknown>;
}

/** "Continue with …" buttons above the form; nothing if no provider is configured. */
export function OtherAccounts({ providers, target, rememberZone }: OtherAccountsProps) {
  const [pending, setPending] = useState(false);
  if (providers.length === 0) return null;
  return (
    <div className="mb-5 grid gap-2">
      {providers.map((provider) => (
        <Button
          key={provider}
          disabled={pending}
          onClick={() => {
            setPending(true);
            void rememberZone(Intl.DateTimeFormat().resolvedOptions().timeZone)
              .catch(() => undefined)
              .then(() => signIn(provider, { callbackUrl: target }))
              .finally(() => setPending(false));
          }}
        >
          Continue with {providerName(provider)}
        </Button>
      ))}
      <p
        aria-hidden
        className="mt-3 flex items-center gap-3 text-muted text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line"
      >
        or
      </p>
    </div>
  );
}
