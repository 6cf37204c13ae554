import type { ReactNode } from 'react';
import { usePolicyForm } from '#components/routing/policy-form-context';
import { labelStyle } from '#components/ui/field';
import { recordOf } from '#lib/gateway/routing/pure/policy/read';

interface PolicyKeyProps {
  /** Key in the policy file. */
  name: string;
  label: string;
  hint?: ReactNode;
  /** The text beside it says the same, so the label is for screen readers only. */
  titled?: boolean;
  /** Initial value when a model first overrides a key that the default does not set. */
  empty: unknown;
  children: ReactNode;
}

/** One key of a policy: its control, its errors, and in a model's policy whether it is inherited. */
export function PolicyKey({ name, label, hint, titled, empty, children }: PolicyKeyProps) {
  const { policy, inherited, set, faultsAt, locked } = usePolicyForm();
  const own = Object.hasOwn(policy, name);
  const faults = faultsAt(name).filter(({ at }) => at.length === 1);
  return (
    <fieldset className="grid min-w-0 content-start gap-2" disabled={locked}>
      <legend className="contents">
        <span className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span className={titled && inherited === null ? 'sr-only' : labelStyle}>{label}</span>
          {inherited === null ? null : (
            <button
              type="button"
              aria-label={
                own ? `Inherit ${label.toLowerCase()} from the default` : `Override ${label.toLowerCase()}`
              }
              className="min-h-6 text-accent-ink text-xs underline-offset-2 hover:underline"
              onClick={() => set(name, own ? undefined : (inherited[name] ?? empty))}
            >
              {own ? 'Inherit' : 'Override'}
            </button>
          )}
        </span>
      </legend>
      {inherited !== null && !own ? (
        <p className="text-[0.8125rem] text-muted leading-5">Inherited: {inheritedText(inherited[name])}</p>
      ) : (
        <>
          {hint ? <p className="text-[0.8125rem] text-muted leading-5">{hint}</p> : null}
          {children}
        </>
      )}
      {faults.map(({ message }) => (
        <p key={message} role="alert" className="text-[0.8125rem] text-bad leading-5">
          {sentence(message)}
        </p>
      ))}
    </fieldset>
  );
}

function inheritedText(value: unknown): string {
  if (value === undefined) return 'not set';
  if (Array.isArray(value)) return value.join(', ') || 'none';
  if (typeof value !== 'object') return String(value);
  return Object.entries(recordOf(value))
    .map(([name, one]) => `${name} ${String(one)}`)
    .join(', ');
}

/** "there is no model" → "There is no model." */
export function sentence(message: string): string {
  const text = /^(is|are|has|must|names|lists|holds)\b/.test(message) ? `This ${message}` : message;
  const begun = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
