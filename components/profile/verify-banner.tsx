'use client';

import { MailCheck } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { Button } from '#components/ui/button';

/** How long the button is disabled after a link was sent, seconds. */
const restSeconds = 60;

interface VerifyBannerProps {
  email: string;
  /** Whether mail is sent; if not, links are in the server's log. */
  mails: boolean;
  request(input: unknown): Promise<FormAnswer<unknown>>;
}

/** Shown until the address is verified: where to find the link, and a button for a new one. */
export function VerifyBanner({ email, mails, request }: VerifyBannerProps) {
  const [said, setSaid] = useState<string | null>(null);
  const [pending, setPending] = useState(false);
  const rest = useRest();

  async function again() {
    setPending(true);
    const answer = await request({}).catch(() => null);
    setPending(false);
    if (answer?.ok) rest.start();
    setSaid(
      answer?.ok
        ? mails
          ? 'New link sent.'
          : 'The new link is in the server log.'
        : (answer?.message ?? 'The gateway did not answer. Try again.'),
    );
  }

  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg bg-warn-soft px-4 py-2.5 text-warn leading-5"
    >
      <MailCheck aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        {said ??
          (mails
            ? `Verify your address: we sent a link to ${email}. Until you verify it, you can look around but not make changes.`
            : `Verify your address: this gateway does not send email, so the link for ${email} is in the server log. Until you verify it, you can look around but not make changes.`)}
      </span>
      <Button size="small" disabled={pending || rest.seconds > 0} onClick={() => void again()}>
        {pending
          ? 'Sending…'
          : rest.seconds > 0
            ? `Send again in ${rest.seconds} s`
            : mails
              ? 'Send again'
              : 'Create a new link'}
      </Button>
    </div>
  );
}

function useRest() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setTimeout(() => setSeconds(seconds - 1), 1_000);
    return () => clearTimeout(timer);
  }, [seconds]);
  return { seconds, start: () => setSeconds(restSeconds) };
}
