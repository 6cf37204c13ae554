'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, type ReactNode, type RefObject, useRef, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultText } from '#components/form/fault';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';
import { Field } from '#components/ui/field';
import { toast } from '#components/ui/toaster';

interface ConfirmDialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: ReactNode;
  description?: ReactNode;
  /** What is lost, or what to choose. */
  children?: ReactNode;
  /** What must be typed first; null: a click is enough. */
  typed?: string | null;
  verb: { readonly idle: string; readonly pending: string };
  tone?: 'danger' | 'primary';
  keep?: string;
  /** Whether it cannot be done now. */
  blocked?: boolean;
  act(): Promise<FormAnswer<unknown>>;
  /** Message shown on success. */
  done: string;
  /** What gets the focus afterwards, if what had it before is gone. */
  finalFocus?: RefObject<HTMLElement | null>;
  /** What to do on success instead of closing and refreshing the page. */
  onDone?(): void;
}

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, title, description, children, typed = null, verb, tone = 'danger', keep = 'Cancel' } = props;
  const router = useRouter();
  const [text, setText] = useState('');
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();
  const closed = useRef(false);

  function change(next: boolean) {
    if (!next) {
      closed.current = true;
      setText('');
      setFault(null);
    }
    props.onOpenChange(next);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (typed !== null && text.trim() !== typed) {
      setFault({ message: `Type ${typed} exactly as shown.`, signedOut: false });
      return;
    }
    closed.current = false;
    startTransition(async () => {
      const answer = await props.act().catch(() => null);
      if (!answer?.ok) {
        // If the dialog was closed in the meantime, the error must still be shown.
        if (closed.current) return void toast.error(answer?.message ?? noAnswer);
        setFault(answer ?? { message: noAnswer, signedOut: false });
        // It was often refused because the page is out of date.
        if (answer?.code) router.refresh();
        return;
      }
      toast.success(props.done);
      if (props.onDone) return props.onDone();
      change(false);
      router.refresh();
    });
  }

  const error = fault ? <FaultText fault={fault} /> : null;
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={title}
      description={description}
      {...(props.finalFocus ? { finalFocus: props.finalFocus } : {})}
    >
      <form onSubmit={submit} noValidate>
        {children || typed !== null || error ? (
          <DialogBody>
            {children}
            {typed === null ? null : (
              <Field
                name="confirmation"
                label={
                  <>
                    Type <strong className="font-mono [overflow-wrap:anywhere]">{typed}</strong> to confirm
                  </>
                }
                value={text}
                onValueChange={setText}
                error={error ?? undefined}
                autoComplete="off"
                spellCheck={false}
              />
            )}
            {typed === null && error ? (
              <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
                {error}
              </p>
            ) : null}
          </DialogBody>
        ) : null}
        <DialogFooter>
          <Button onClick={() => change(false)}>{keep}</Button>
          <Button type="submit" tone={tone} disabled={pending || props.blocked === true}>
            {pending ? verb.pending : verb.idle}
          </Button>
        </DialogFooter>
      </form>
    </Dialog>
  );
}
