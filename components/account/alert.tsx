import type { ReactNode } from 'react';

const tones = {
  bad: 'bg-bad-soft text-bad',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
} as const;

/** The result of an action, above its form; screen readers announce it when it appears. */
export function Alert({ tone, children }: { tone: keyof typeof tones; children: ReactNode }) {
  return (
    <p
      role={tone === 'bad' ? 'alert' : 'status'}
      className={`rounded-md px-3 py-2 leading-5 [overflow-wrap:anywhere] ${tones[tone]}`}
    >
      {children}
    </p>
  );
}
