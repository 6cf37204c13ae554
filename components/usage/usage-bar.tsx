'use client';

import { SlidersHorizontal, X } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useId, useState, useTransition } from 'react';
import { Button } from '#components/ui/button';
import { FilterSheet } from '#components/ui/filter-sheet';
import { NativeSelect } from '#components/ui/native-select';
import { DayRange } from '#components/usage/day-range';
import { type MetricName, metricNames, metrics, namesOf } from '#lib/console/usage/metrics';
import { fits, groupings, inSentence, usageParameters } from '#lib/console/usage/parameters';
import type { Step } from '#lib/core/charts/buckets';
import type { RangeName } from '#lib/core/charts/ranges';

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface UsageBarProps {
  range: RangeName | 'custom';
  /** The first and the last day of the range, in the workspace's zone: "2026-11-22". */
  days: { readonly first: string; readonly last: string };
  step: Step;
  steps: readonly Step[];
  models: readonly Choice[];
  providers: readonly Choice[];
  keys: readonly Choice[];
}

const ranges: Readonly<Record<RangeName | 'custom', string>> = {
  '24h': 'Last 24 hours',
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  month: 'This month',
  'last-month': 'Last month',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
  custom: 'Custom range',
};

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
  const [{ metric, by, model, provider, key }, set] = useQueryStates(usageParameters, options);
  // Filters are visible if any is set; otherwise they are behind a button.
  const [more, setMore] = useState(Boolean(model || provider || key));
  const filters = useId();
  const chooseMetric = (next: MetricName) =>
    set({ metric: next, ...(fits(next, by) ? {} : { by: 'model' as const }) });
  const chooseRange = (next: RangeName | 'custom') =>
    next === 'custom'
      ? set({ from: days.first, to: dayAfter(days.last), step: null })
      : set({ range: next, from: null, to: null, step: null });
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
          options={namesOf(groupings)
            .filter((value) => fits(metric, value))
            .map((value) => ({
              value,
              label: value === 'none' ? groupings[value] : `By ${inSentence(groupings[value])}`,
            }))}
          onChange={(next) => set({ by: oneOf(namesOf(groupings), next) })}
        />
        <NativeSelect
          label="Range"
          className="sm:w-40"
          value={range}
          options={namesOf(ranges).map((value) => ({ value, label: ranges[value] }))}
          onChange={(next) => chooseRange(oneOf(namesOf(ranges), next))}
        />
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
        {range === 'custom' ? (
          <DayRange
            key={`${days.first} ${days.last}`}
            first={days.first}
            last={days.last}
            onChange={(first, last) => set({ from: first, to: dayAfter(last), step: null })}
          />
        ) : null}
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

/** "2026-11-30" → "2026-12-01": the end of a range is exclusive. */
function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
