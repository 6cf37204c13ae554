'use client';

import { UserPlus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { type FormEvent, useId, useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { useMemberPage } from '#components/members/member-actions';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';
import { labelStyle } from '#components/ui/field';
import { inputStyle } from '#components/ui/input';
import { NativeSelect } from '#components/ui/native-select';
import { toast } from '#components/ui/toaster';
import { Tooltip } from '#components/ui/tooltip';

/** An email address that was not invited, and why. */
interface Fault {
  readonly email: string;
  readonly message: string;
  readonly signedOut: boolean;
}

/** Sends an invitation to each address; refused addresses stay in the field, with the reason. */
export function InviteButton() {
  const { locked, mails, roles } = useMemberPage();
  const [open, setOpen] = useState(false);
  if (locked) {
    return (
      <Tooltip content={locked}>
        <Button tone="primary" aria-disabled aria-description={locked}>
          <UserPlus />
          Invite
        </Button>
      </Tooltip>
    );
  }
  return (
    <>
      <Button tone="primary" onClick={() => setOpen(true)}>
        <UserPlus />
        Invite
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Invite people"
        description={`${mails ? 'Each address gets an email with a link.' : 'This gateway does not send email: copy the link of each invitation from the list and pass it on.'} A link works once, only for its address, and expires after 7 days.`}
      >
        <InviteForm roles={roles} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function InviteForm({ roles, onClose }: { roles: readonly string[]; onClose(): void }) {
  const { actions, mails, workspace } = useMemberPage();
  const router = useRouter();
  const [text, setText] = useState('');
  const [role, setRole] = useState(roles.includes('developer') ? 'developer' : (roles[0] ?? 'viewer'));
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [pending, startTransition] = useTransition();
  const id = useId();

  function submit(event: FormEvent) {
    event.preventDefault();
    const emails = [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
    if (emails.length === 0) {
      setFaults([{ email: '', message: 'Enter at least one email address.', signedOut: false }]);
      return;
    }
    startTransition(async () => {
      const refused: Fault[] = [];
      for (const email of emails) {
        const answer = await actions.invite(workspace, { email, role }).catch(() => null);
        if (answer?.ok) continue;
        const {
          message = 'No response from the gateway. Check the list of invitations, then try again.',
          signedOut = false,
        } = answer ?? {};
        refused.push({ email, message, signedOut });
        if (signedOut) break;
      }
      const sent = emails.length - refused.length;
      if (sent > 0) {
        const invitations = sent === 1 ? '1 invitation' : `${sent} invitations`;
        toast.success(mails ? `${invitations} sent` : `${invitations} created. Copy the link from the list.`);
        router.refresh();
      }
      if (refused.length === 0) return onClose();
      setFaults(refused);
      setText(refused.map(({ email }) => email).join('\n'));
    });
  }

  return (
    <form onSubmit={submit} noValidate>
      <DialogBody>
        <div className="grid gap-1.5">
          <label htmlFor={`${id}-emails`} className={labelStyle}>
            Email addresses
          </label>
          <textarea
            id={`${id}-emails`}
            name="emails"
            rows={3}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            placeholder="ann@example.com, bob@example.com"
            aria-describedby={`${id}-hint`}
            aria-invalid={faults.length > 0}
            spellCheck={false}
            autoCapitalize="none"
            className={`${inputStyle} h-auto py-2 leading-5`}
          />
          <p id={`${id}-hint`} className="text-[0.8125rem] text-muted leading-5">
            Separate addresses with commas or line breaks.
          </p>
          {faults.length > 0 ? (
            <ul role="alert" className="grid gap-1 text-[0.8125rem] text-bad leading-5">
              {faults.map(({ email, message, signedOut }) => (
                <li key={email} className="[overflow-wrap:anywhere]">
                  {email && !message.includes(email) ? `${email}: ` : ''}
                  {message}
                  {signedOut ? <SignInAgain /> : null}
                </li>
              ))}
            </ul>
          ) : null}
        </div>
        <div className="grid gap-1.5">
          <span className={labelStyle}>Role</span>
          <NativeSelect
            label="Role"
            value={role}
            options={roles.map((value) => ({ value, label: capital(value) }))}
            onChange={setRole}
          />
        </div>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" disabled={pending}>
          {pending ? 'Inviting…' : mails ? 'Send invitations' : 'Create invitations'}
        </Button>
      </DialogFooter>
    </form>
  );
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
