'use client';

import { SlidersHorizontal, X } from 'lucide-react';
import { usePathname, useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useId, useState, useTransition } from 'react';
import { Button } from '#components/ui/button';
import { FilterSheet } from '#components/ui/filter-sheet';
import { NativeSelect } from '#components/ui/native-select';
import { RangeSelect, type ShownRange } from '#components/usage/range-select';
import { type MetricName, metricNames, metrics, namesOf } from '#lib/console/usage/metrics';
import { fits, groupingLabel, groupings, usageParameters } from '#lib/console/usage/parameters';
import { tagGroupings, tagUsageUrl } from '#lib/console/usage/tag-parameters';
import type { Step } from '#lib/core/charts/buckets';

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface UsageBarProps extends ShownRange {
  step: Step;
  steps: readonly Step[];
  models: readonly Choice[];
  providers: readonly Choice[];
  keys: readonly Choice[];
}

const stepNames: Readonly<Record<Step, string>> = {
  quarter: 'By 15 minutes',
  hour: 'By hour',
  day: 'By day',
  week: 'By week',
  month: 'By month',
};

/** Chooses what is shown; kept in the URL. The old figures stay until the new ones have loaded. */
export function UsageBar({ range, days, step, steps, models, providers, keys }: UsageBarProps) {
  const [pending, startTransition] = useTransition();
  const options = { shallow: false, history: 'push', startTransition } as const;
  const router = useRouter();
  const path = usePathname();
  const [{ metric, by, model, provider, key, ...rest }, set] = useQueryStates(usageParameters, options);
  // Filters are visible if any is set; otherwise they are behind a button.
  const [more, setMore] = useState(Boolean(model || provider || key));
  const filters = useId();
  const span = { range: rest.range, from: rest.from, to: rest.to };
  const chooseMetric = (next: MetricName) =>
    set({ metric: next, ...(fits(next, by) ? {} : { by: 'model' as const }) });
  const narrowed = [model, provider, key].filter(Boolean).length;
  const clear = () => set({ model: null, provider: null, key: null });
  const narrowing = (
    <>
      <NativeSelect
        label="Interval"
        className="sm:w-44"
        value={step}
        options={steps.map((value) => ({ value, label: stepNames[value] }))}
        onChange={(next) => set({ step: oneOf(steps, next) })}
      />
      <Narrow label="model" value={model} options={models} onChange={(next) => set({ model: next })} />
      <Narrow
        label="provider"
        value={provider}
        options={providers}
        onChange={(next) => set({ provider: next })}
      />
      <Narrow label="key" value={key} options={keys} onChange={(next) => set({ key: next })} />
    </>
  );
  return (
    <search className="grid gap-2" aria-busy={pending} aria-label="Chart options">
      <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
        <NativeSelect
          label="Metric"
          className="sm:w-48"
          value={metric}
          options={metricNames.map((value) => ({ value, label: metrics[value].label }))}
          onChange={(next) => chooseMetric(oneOf(metricNames, next))}
        />
        <NativeSelect
          label="Group by"
          className="sm:w-44"
          value={fits(metric, by) ? by : 'model'}
          options={[
            ...namesOf(groupings)
              .filter((value) => fits(metric, value))
              .map((value) => ({ value, label: groupingLabel(value) })),
            ...tagGroupings,
          ]}
          onChange={(next) =>
            tagGroupings.some(({ value }) => value === next)
              ? startTransition(() => router.push(tagUsageUrl(`${path}/tags`, { by: next, ...span })))
              : set({ by: oneOf(namesOf(groupings), next) })
          }
        />
        <RangeSelect range={range} days={days} onChange={(next) => set({ ...next, step: null })} />
        <FilterSheet given={narrowed} onClear={clear}>
          {narrowing}
        </FilterSheet>
        <Button
          aria-expanded={more}
          aria-controls={filters}
          className="max-sm:hidden sm:order-last"
          onClick={() => setMore(!more)}
        >
          <SlidersHorizontal />
          {narrowed > 0 ? `Filters (${narrowed})` : 'Filters'}
        </Button>
        <span role="status" className="self-center text-muted text-xs sm:order-last">
          {pending ? 'Loading…' : ''}
        </span>
      </div>
      <div
        id={filters}
        hidden={!more}
        className={more ? 'flex flex-wrap items-center gap-2 max-sm:hidden' : ''}
      >
        {narrowing}
        {narrowed > 0 ? (
          <Button tone="quiet" size="small" className="justify-self-start" onClick={clear}>
            <X />
            Clear
          </Button>
        ) : null}
      </div>
    </search>
  );
}

interface NarrowProps {
  label: string;
  value: string | null;
  options: readonly Choice[];
  onChange(value: string | null): void;
}

function Narrow({ label, value, options, onChange }: NarrowProps) {
  const known = options.some((option) => option.value === value);
  return (
    <NativeSelect
      label={`Only one ${label}`}
      className="sm:w-40"
      value={value ?? ''}
      options={[
        { value: '', label: `Any ${label}` },
        ...options,
        ...(value && !known ? [{ value, label: value }] : []),
      ]}
      onChange={(chosen) => onChange(chosen || null)}
    />
  );
}

/** Narrows the value of a native select to the options it offered. */
function oneOf<Name extends string>(names: readonly Name[], chosen: string): Name {
  const found = names.find((name) => name === chosen) ?? names[0];
  if (found === undefined) throw new Error('a list offers something');
  return found;
}
