'use client';

import { useId, useState } from 'react';
import { FieldFault } from '#components/form/field-fault';
import { Checkbox } from '#components/ui/checkbox';
import { labelStyle } from '#components/ui/field';
import { Input } from '#components/ui/input';
import { ToggleGroup } from '#components/ui/toggle-group';

interface ModelScopeProps {
  /** Every model of the catalogue. */
  models: readonly string[];
  /** null: all models, including future ones. */
  scope: readonly string[] | null;
  onChange(scope: readonly string[] | null): void;
  error?: string | undefined;
}

/** Which models a key may call. */
export function ModelScope({ models, scope, onChange, error }: ModelScopeProps) {
  const [search, setSearch] = useState('');
  const faultId = useId();
  const shown = models.filter((model) => model.toLowerCase().includes(search.trim().toLowerCase()));
  return (
    <fieldset className="grid gap-1.5">
      <legend className={`${labelStyle} mb-1.5`}>Models</legend>
      <div>
        <ToggleGroup
          label="Models"
          value={scope ? 'some' : 'all'}
          options={[
            { value: 'all', label: 'All models' },
            { value: 'some', label: 'Selected models' },
          ]}
          onChange={(choice) => onChange(choice === 'all' ? null : [])}
          faultId={error ? faultId : undefined}
        />
      </div>
      {scope ? (
        <div className="rounded-md border">
          <Input
            type="search"
            aria-label="Search models"
            placeholder={`Search ${models.length} models`}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            className="rounded-b-none border-0 border-b"
          />
          <div className="max-h-44 overflow-y-auto p-1">
            {shown.map((model) => (
              <Checkbox
                key={model}
                checked={scope.includes(model)}
                onChange={(on) => onChange(on ? [...scope, model] : scope.filter((name) => name !== model))}
              >
                <span className="break-all">{model}</span>
              </Checkbox>
            ))}
            {shown.length === 0 ? <p className="p-3 text-muted">No matching models.</p> : null}
          </div>
          <p className="border-t px-3 py-1.5 text-muted text-xs" aria-live="polite">
            {scope.length} selected
          </p>
        </div>
      ) : null}
      {error ? <FieldFault id={faultId}>{error}</FieldFault> : null}
    </fieldset>
  );
}
