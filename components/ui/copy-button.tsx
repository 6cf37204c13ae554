'use client';

import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, type ButtonProps } from '#components/ui/button';

/** `navigator.clipboard` is absent on plain http; a selected text area still works there. */
async function copy(text: string, beside: HTMLElement): Promise<void> {
  if (window.isSecureContext && navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'fixed opacity-0';
  // Beside the button and not in the body: an open dialog takes the focus back from outside.
  beside.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  beside.querySelector('button')?.focus();
  if (!done) throw new Error('The browser refused to copy');
}

interface CopyButtonProps extends Omit<ButtonProps, 'value' | 'children'> {
  /** What lands on the clipboard: the whole value, whatever the page shows of it. */
  value: string;
  /** What is copied, for the spoken name: "request id". */
  what: string;
  /** Visible text; without it the button is an icon. */
  text?: string;
  onCopied?: () => void;
}

export function CopyButton({ value, what, text, onCopied, size, tone, ...props }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 2_000);
    return () => clearTimeout(timer);
  }, [state]);
  return (
    <span className="inline-flex">
      <Button
        {...props}
        tone={tone ?? 'quiet'}
        size={size ?? (text ? 'small' : 'smallIcon')}
        {...(text ? {} : { 'aria-label': `Copy ${what}`, title: `Copy ${what}` })}
        onClick={(event) => {
          const beside = event.currentTarget.parentElement ?? event.currentTarget;
          copy(value, beside).then(
            () => {
              setState('copied');
              onCopied?.();
            },
            () => setState('failed'),
          );
        }}
      >
        {state === 'copied' ? <Check className="text-good" /> : <Copy />}
        {text ? (state === 'copied' ? 'Copied' : text) : null}
      </Button>
      <span aria-live="polite" className="sr-only">
        {state === 'copied' ? `Copied ${what}` : state === 'failed' ? `Could not copy ${what}` : ''}
      </span>
    </span>
  );
}
