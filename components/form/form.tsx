'use client';

import { type ComponentProps, type FormEvent, useRef } from 'react';

interface FormProps
  extends Omit<ComponentProps<'form'>, 'action' | 'method' | 'onReset' | 'onSubmit' | 'ref'> {
  /** Called on submit; `data` has the values at that moment. */
  onSend(data: FormData, form: HTMLFormElement): void;
}

/**
 * A form that submits its values even if it was submitted before hydration: React replays such a submit as
 * the form's action after hydration.
 */
export function Form({ onSend, ...props }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const keep = useRef(false);

  function sendKept(data: FormData) {
    if (!form.current) return;
    keep.current = true;
    onSend(data, form.current);
  }

  // React resets a form after its action; an error would then be next to empty fields.
  function reset(event: FormEvent<HTMLFormElement>) {
    if (keep.current) event.preventDefault();
    keep.current = false;
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSend(new FormData(event.currentTarget), event.currentTarget);
  }

  return <form {...props} ref={form} action={sendKept} onSubmit={submit} onReset={reset} />;
}
