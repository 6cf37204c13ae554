'use client';

import { type ComponentProps, type FormEvent, useRef } from 'react';

interface FormProps
  extends Omit<ComponentProps<'form'>, 'action' | 'method' | 'onReset' | 'onSubmit' | 'ref'> {
  /** Enter or the button was pressed; `data` is what the boxes held at that moment. */
  onSend(data: FormData, form: HTMLFormElement): void;
}

/**
 * A form that sends what it held when it was pressed, also where that was before its scripts were there: React keeps
 * such a press for the form's action until the form is hydrated.
 */
export function Form({ onSend, ...props }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const keep = useRef(false);

  function sendKept(data: FormData) {
    if (!form.current) return;
    keep.current = true;
    onSend(data, form.current);
  }

  // React empties a form after its action; a refusal would then stand beside empty boxes.
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
