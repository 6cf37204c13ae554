import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { classNames } from '#components/ui/class-names';

const badgeStyle = cva(
  'inline-flex items-center gap-1.5 whitespace-nowrap rounded-full px-2 py-0.5 font-medium text-xs leading-4 [&_svg]:size-3',
  {
    variants: {
      tone: {
        neutral: 'bg-hover text-ink',
        outline: 'border border-line-strong/50 text-muted',
        accent: 'bg-accent-soft text-accent-ink',
        good: 'bg-good-soft text-good',
        warn: 'bg-warn-soft text-warn',
        bad: 'bg-bad-soft text-bad',
        info: 'bg-info-soft text-info',
      },
    },
    defaultVariants: { tone: 'neutral' },
  },
);

export type BadgeTone = NonNullable<VariantProps<typeof badgeStyle>['tone']>;

/** A state in one or two words; the text carries the meaning, the color only supports it. */
export function Badge({
  className,
  tone,
  dot,
  children,
  ...props
}: ComponentProps<'span'> & { tone?: BadgeTone; dot?: boolean }) {
  return (
    <span className={classNames(badgeStyle({ tone }), className)} {...props}>
      {dot ? <span aria-hidden className="size-1.5 rounded-full bg-current" /> : null}
      {children}
    </span>
  );
}
