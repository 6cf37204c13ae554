'use client';

import { signIn } from 'next-auth/react';
import { useState } from 'react';
import { toast } from 'sonner';
import { Alert } from '#components/account/alert';
import { providerName } from '#components/account/other-accounts';
import type { FormAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { Button } from '#components/ui/button';

interface Linked {
  readonly provider: string;
  readonly email: string | null;
  /** "21 Nov 2026". */
  readonly since: string;
}

interface LinkedAccountsProps {
  /** The providers that this gateway is configured for. */
  providers: readonly string[];
  linked: readonly Linked[];
  /** The account to connect belongs to another user of this gateway. */
  taken: boolean;
  start(): Promise<boolean>;
  unlink(input: unknown): Promise<FormAnswer<unknown>>;
}

/** Accounts with other providers that the user can sign in with. */
export function LinkedAccounts({ providers, linked, taken, start, unlink }: LinkedAccountsProps) {
  const [connecting, setConnecting] = useState(false);
  const { pending: changing, make } = useChange();
  const pending = connecting || changing;
  const all = [...new Set([...providers, ...linked.map(({ provider }) => provider)])];

  async function connect(provider: string) {
    setConnecting(true);
    if (await start().catch(() => false)) await signIn(provider, { callbackUrl: '/account' });
    else toast.error('Something went wrong. Reload the page and try again.');
    setConnecting(false);
  }

  return (
    <>
      {taken ? (
        <div className="p-4 pb-0">
          <Alert tone="bad">That account is already connected to another user of this gateway.</Alert>
        </div>
      ) : null}
      <ul className="divide-y">
        {all.map((provider) => {
          const own = linked.filter((one) => one.provider === provider);
          return (
            <li key={provider} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
              <div className="min-w-0 flex-1 basis-48">
                <p className="font-medium">{providerName(provider)}</p>
                <p className="text-muted text-xs leading-5 [overflow-wrap:anywhere]">
                  {own.length === 0
                    ? 'Not connected'
                    : own.map(({ email, since }) => `${email ?? 'connected'}, since ${since}`).join('; ')}
                </p>
              </div>
              <Button
                size="small"
                disabled={pending}
                onClick={() =>
                  own.length > 0
                    ? make(unlink({ provider }), `${providerName(provider)} disconnected`)
                    : void connect(provider)
                }
              >
                {own.length > 0 ? 'Disconnect' : 'Connect'}
                <span className="sr-only"> {providerName(provider)}</span>
              </Button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
