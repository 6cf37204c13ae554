'use client';

import { X } from 'lucide-react';
import { useState } from 'react';
import { usePolicyForm } from '#components/routing/policy-form-context';
import { PolicyKey, sentence } from '#components/routing/policy-key';
import { buttonStyle } from '#components/ui/button';
import { Field } from '#components/ui/field';
import { NamePicker } from '#components/ui/name-picker';
import { NativeSelect } from '#components/ui/native-select';
import { plainUsd } from '#lib/core/money';
import { parseSpan, plainSpan } from '#lib/core/span';
import { numberOf, recordOf, textOf, withEntry } from '#lib/gateway/routing/pure/policy/read';

const limits = [
  ['connectMs', 'Connect', 5_000],
  ['firstByteMs', 'First byte of a stream', 120_000],
  ['firstByteWholeMs', 'First byte of a whole answer', 600_000],
  ['firstWordMs', 'First word', 600_000],
  ['idleMs', 'Pause between words', 300_000],
  ['totalMs', 'Whole call', 3_600_000],
  ['holdMs', 'Hold before the first word', 5_000],
] as const;

/** How many attempts a call may make. */
export function Attempts() {
  const { policy, set } = usePolicyForm();
  return (
    <PolicyKey
      name="maxAttempts"
      label="Attempts"
      hint="Maximum for one call over the whole fallback chain."
      empty={4}
    >
      <NativeSelect
        label="Attempts"
        className="sm:w-40"
        value={textOf(policy.maxAttempts) || '4'}
        onChange={(value) => set('maxAttempts', Number(value))}
        options={['1', '2', '3', '4'].map((value) => ({ value, label: value }))}
      />
    </PolicyKey>
  );
}

/** Reads and sets the entries of a record in a policy, each with its own error. */
function useEntry(key: string) {
  const { policy, set, faultsAt, inherited } = usePolicyForm();
  const record = recordOf(policy[key]);
  return (name: string) => {
    const [fault] = faultsAt(key, name);
    return {
      stored: record[name],
      value: textOf(record[name]),
      put: (value: unknown) =>
        set(key, withEntry(record, name, value) ?? (inherited === null ? undefined : {})),
      ...(fault ? { error: sentence(fault.message) } : {}),
    };
  };
}

export function HighestPrice() {
  const entry = useEntry('maxPrice');
  // An amount is kept as people type it until they leave its box; the policy has it as a plain decimal.
  const [typed, setTyped] = useState<{ readonly name: string; readonly text: string } | null>(null);
  return (
    <PolicyKey name="maxPrice" label="Highest price" hint="More expensive offers are not tried." empty={{}}>
      <div className="grid gap-3 sm:grid-cols-2">
        {(['input', 'output'] as const).map((name) => {
          const { stored: _, value, put, ...fault } = entry(name);
          return (
            <Field
              key={name}
              name={`maxPrice.${name}`}
              label={name === 'input' ? 'Input, per million tokens' : 'Output, per million tokens'}
              prefix="$"
              inputMode="decimal"
              placeholder="any"
              value={typed?.name === name ? typed.text : value}
              onValueChange={(text) => {
                setTyped({ name, text });
                put(plainUsd(text.trim()) || undefined);
              }}
              onBlur={() => setTyped(null)}
              {...fault}
            />
          );
        })}
      </div>
    </PolicyKey>
  );
}

/** What a batch may hold at most. */
export function HighestBatchHold() {
  const { policy, set, inherited } = usePolicyForm();
  return (
    <PolicyKey
      name="maxBatchHold"
      label="Highest hold of a batch"
      hint="A batch that could cost more is refused."
      empty="100"
    >
      <Field
        name="maxBatchHold"
        label="Hold of one batch"
        prefix="$"
        inputMode="decimal"
        placeholder="any"
        value={textOf(policy.maxBatchHold)}
        onValueChange={(text) =>
          set('maxBatchHold', plainUsd(text.trim()) || (inherited === null ? undefined : ''))
        }
      />
    </PolicyKey>
  );
}

export function TimeLimits() {
  const entry = useEntry('timeouts');
  // A time is kept as people type it until they leave its box; the policy has it in ms.
  const [typed, setTyped] = useState<{ readonly name: string; readonly text: string } | null>(null);
  return (
    <PolicyKey
      name="timeouts"
      label="Time limits"
      hint="With their unit, such as 30 s or 2 min. Leave empty for the default shown."
      empty={{}}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        {limits.map(([name, label, usual]) => {
          const { stored, value, put, ...fault } = entry(name);
          const text =
            typed?.name === name ? typed.text : typeof stored === 'number' ? plainSpan(stored) : value;
          const unread = text.trim() !== '' && parseSpan(text) === null;
          return (
            <Field
              key={name}
              name={`timeouts.${name}`}
              label={label}
              placeholder={plainSpan(usual)}
              value={text}
              onValueChange={(next) => {
                setTyped({ name, text: next });
                put(parseSpan(next) ?? (next.trim() || undefined));
              }}
              onBlur={() => setTyped(null)}
              {...(unread ? { error: 'Write a time with its unit, such as 30 s or 2 min.' } : fault)}
            />
          );
        })}
      </div>
    </PolicyKey>
  );
}

/** Weights by provider, for a random order instead of a sorted one. */
export function Weights() {
  const { policy, providers } = usePolicyForm();
  const entry = useEntry('weights');
  const named = Object.keys(recordOf(policy.weights));
  return (
    <PolicyKey
      name="weights"
      label="Weights"
      hint="If set, providers that are not in the order above are chosen at random by weight instead of sorted. The default weight is 1."
      empty={{}}
    >
      <div className="grid gap-1.5">
        {named.map((provider) => {
          const { stored: _, value, put, ...fault } = entry(provider);
          return (
            <div key={provider} className="flex items-start gap-2">
              <Field
                name={`weights.${provider}`}
                label={<span className="font-mono">{provider}</span>}
                inputMode="decimal"
                className="flex-1 sm:grid-cols-[minmax(0,1fr)_7rem] sm:items-center"
                value={value}
                onValueChange={(text) => put(numberOf(text) ?? '')}
                {...fault}
              />
              <button
                type="button"
                aria-label={`Remove the weight of ${provider}`}
                onClick={() => put(undefined)}
                className={`${buttonStyle({ tone: 'quiet', size: 'smallIcon' })} mt-1`}
              >
                <X />
              </button>
            </div>
          );
        })}
        <NamePicker
          label="Add a provider weight"
          names={providers.filter((one) => !named.includes(one))}
          onPick={(provider) => entry(provider).put(1)}
        />
      </div>
    </PolicyKey>
  );
}
