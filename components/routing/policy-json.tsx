'use client';

import { useState } from 'react';
import { FaultsOf } from '#components/routing/name-lists';
import type { PolicyFault } from '#components/routing/policy-form-context';
import { type DraftPolicy, recordOf } from '#lib/gateway/routing/pure/policy/read';

interface PolicyJsonProps {
  policy: DraftPolicy;
  faults: readonly PolicyFault[];
  locked: boolean;
  onChange(policy: DraftPolicy): void;
  /** Whether the text is a JSON object. */
  onReadable(readable: boolean): void;
}

/** The same draft as JSON, as in the policy file and the API. */
export function PolicyJson({ policy, faults, locked, onChange, onReadable }: PolicyJsonProps) {
  const [text, setText] = useState(() => JSON.stringify(policy, null, 2));
  const [fault, setFault] = useState<string | null>(null);
  // If the draft was changed elsewhere or discarded, shows the new draft, unless the text here is invalid.
  const own = read(text);
  const shown =
    own && JSON.stringify(own) !== JSON.stringify(policy) ? JSON.stringify(policy, null, 2) : text;

  function change(next: string) {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
      setFault(isObject ? null : 'A policy is a JSON object.');
      onReadable(isObject);
      if (isObject) onChange(recordOf(parsed));
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'This is not valid JSON.');
      onReadable(false);
    }
  }

  return (
    <div className="grid gap-2 p-4">
      <textarea
        aria-label="Policy as JSON"
        aria-invalid={fault !== null}
        spellCheck={false}
        readOnly={locked}
        value={shown}
        onChange={(event) => change(event.target.value)}
        rows={Math.min(32, Math.max(14, shown.split('\n').length + 1))}
        className="w-full resize-y rounded-md border border-line-strong/70 bg-sunken/50 p-3 font-mono text-xs leading-5 aria-invalid:border-bad"
      />
      {fault ? (
        <p role="alert" className="text-[0.8125rem] text-bad leading-5">
          {fault}
        </p>
      ) : (
        <FaultsOf faults={faults.map(({ at, message }) => ({ message: `${at.join('.')}: ${message}` }))} />
      )}
    </div>
  );
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
