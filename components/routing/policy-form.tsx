'use client';

import type { ReactNode } from 'react';
import { AliasEditor } from '#components/routing/alias-editor';
import { NameSet, OrderedNames } from '#components/routing/name-lists';
import { usePolicyForm } from '#components/routing/policy-form-context';
import { PolicyKey } from '#components/routing/policy-key';
import {
  Attempts,
  HighestBatchHold,
  HighestPrice,
  TimeLimits,
  Weights,
} from '#components/routing/policy-numbers';
import { NativeSelect } from '#components/ui/native-select';
import { textOf } from '#lib/gateway/routing/pure/policy/read';

const sorts = [
  { value: 'order', label: 'Catalogue order' },
  { value: 'price', label: 'Cheapest first' },
  { value: 'latency', label: 'Lowest latency first' },
  { value: 'throughput', label: 'Highest throughput first' },
] as const;

const translations = [
  { value: 'allow', label: 'After the model’s other offers' },
  { value: 'fallback', label: 'After the other offers of the whole fallback chain' },
  { value: 'never', label: 'Never' },
] as const;

/** A form for the keys of a policy. @param model the policy's model; null: the workspace default. */
export function PolicyForm({ model }: { model: string | null }) {
  const { policy, set, models, providers } = usePolicyForm();
  return (
    <div className="grid">
      <Group title="Fallback chain" about="Models are tried in this order until one answers.">
        <PolicyKey name="fallbackModels" label="Fallback models" titled empty={[]}>
          <p className="flex min-w-0 items-center gap-1.5 rounded-md border border-dashed px-2 py-1.5 text-[0.8125rem]">
            <span aria-hidden className="w-7 shrink-0" />
            <span aria-hidden className="w-4 shrink-0 text-muted text-xs tabular-nums">
              1
            </span>
            {model === null ? (
              <span className="text-muted">The requested model</span>
            ) : (
              <span className="break-all font-mono">{model}</span>
            )}
          </p>
          <OrderedNames
            name="fallbackModels"
            label="Fallback models"
            add="Add a fallback model"
            names={models.filter((one) => one !== model)}
            from={2}
          />
        </PolicyKey>
        <Attempts />
      </Group>
      <Group title="Providers" about="Which providers are tried, and in which order.">
        <PolicyKey
          name="order"
          label="Provider order"
          hint="These providers are tried first, in this order."
          empty={[]}
        >
          <OrderedNames name="order" label="Provider order" add="Add to provider order" names={providers} />
        </PolicyKey>
        <PolicyKey name="sort" label="Sort the rest" empty="order">
          <NativeSelect
            label="Sort the rest"
            value={textOf(policy.sort) || 'order'}
            onChange={(value) => set('sort', value)}
            options={sorts}
          />
        </PolicyKey>
        <PolicyKey
          name="translate"
          label="Translation"
          hint="When to try offers that need the call to be translated."
          empty="allow"
        >
          <NativeSelect
            label="Translation"
            value={textOf(policy.translate) || 'allow'}
            onChange={(value) => set('translate', value)}
            options={translations}
          />
        </PolicyKey>
        <div className="grid gap-5 sm:grid-cols-2">
          <PolicyKey name="only" label="Only these providers" hint="No other providers are tried." empty={[]}>
            <NameSet name="only" label="Only these providers" add="Allow a provider" names={providers} />
          </PolicyKey>
          <PolicyKey
            name="ignore"
            label="Ignored providers"
            hint="These providers are never tried."
            empty={[]}
          >
            <NameSet name="ignore" label="Ignored providers" add="Ignore a provider" names={providers} />
          </PolicyKey>
        </div>
        <Weights />
      </Group>
      <Group title="Limits" about="Limits for each call.">
        <HighestPrice />
        <HighestBatchHold />
        <TimeLimits />
      </Group>
      {model === null ? (
        <Group title="Aliases" about="Your own names for a model or a fallback chain.">
          <AliasEditor />
        </Group>
      ) : null}
    </div>
  );
}

function Group({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className="grid gap-x-6 gap-y-3 border-b px-4 py-5 last:border-b-0 md:grid-cols-[9rem_minmax(0,1fr)]"
    >
      <header>
        <h2 className="font-medium text-[0.8125rem] leading-5">{title}</h2>
        <p className="text-muted text-xs leading-4">{about}</p>
      </header>
      <div className="grid min-w-0 gap-5">{children}</div>
    </section>
  );
}
