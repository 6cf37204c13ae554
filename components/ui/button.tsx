import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps, MouseEvent } from 'react';
import { classNames } from '#components/ui/class-names';

/** Also for links that look like buttons. */
export const buttonStyle = cva(
  'relative inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md font-medium text-sm transition-colors duration-100 disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      tone: {
        primary: 'bg-accent text-on-accent hover:bg-accent-hover',
        plain: 'border border-line-strong/60 bg-surface text-ink hover:bg-hover',
        quiet: 'text-muted hover:bg-hover hover:text-ink',
        danger: 'bg-bad-solid text-white hover:brightness-90',
      },
      size: {
        medium: 'h-9 px-3.5',
        small: 'h-8 px-2.5 text-[0.8125rem]',
        icon: 'size-9',
        smallIcon: 'size-7 [&_svg]:size-3.5',
      },
    },
    defaultVariants: { tone: 'plain', size: 'medium' },
  },
);

export type ButtonProps = ComponentProps<'button'> & VariantProps<typeof buttonStyle>;

/** Ignores clicks, including the one that Enter in a form field triggers. */
const off = { 'aria-disabled': true, onClick: (event: MouseEvent) => event.preventDefault() };

/**
 * A disabled button keeps the focus: with the `disabled` attribute, the browser would take it away while the
 * change is made.
 */
export function Button({ className, tone, size, type = 'button', disabled, ...props }: ButtonProps) {
  return (
    <button
      type={type}
      className={classNames(buttonStyle({ tone, size }), className)}
      {...props}
      {...(disabled ? off : {})}
    />
  );
}
