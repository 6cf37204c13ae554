'use client';

import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, type ButtonProps } from '#components/ui/button';
import { copyText } from '#components/ui/copy';

interface CopyButtonProps extends Omit<ButtonProps, 'value' | 'children'> {
  /** The text that is copied: the whole value, even if the page shows only part of it. */
  value: string;
  /** What is copied, for the accessible name: "request id". */
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
          copyText(value, beside).then(
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
