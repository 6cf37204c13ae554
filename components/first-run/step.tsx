import { Check } from 'lucide-react';
import type { ReactNode } from 'react';

interface StepProps {
  number: number;
  title: string;
  done: boolean;
  children: ReactNode;
}

/** One step, checked off when it is done. */
export function Step({ number, title, done, children }: StepProps) {
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 px-4 py-4">
      <span
        aria-hidden
        className={`grid size-6 place-items-center rounded-full text-xs tabular-nums ${done ? 'bg-good-soft text-good' : 'border border-line-strong/60 text-muted'}`}
      >
        {done ? <Check className="size-3.5" /> : number}
      </span>
      <div className="grid min-w-0 gap-1 leading-6">
        <h3 className="font-medium">
          {title}
          {done ? <span className="sr-only">, done</span> : null}
        </h3>
        <div className="min-w-0 text-muted">{children}</div>
      </div>
    </li>
  );
}
