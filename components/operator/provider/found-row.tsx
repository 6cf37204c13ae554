'use client';

import { useId } from 'react';
import { Badge } from '#components/ui/badge';
import { Checkbox } from '#components/ui/checkbox';
import { Input } from '#components/ui/input';
import { NativeSelect } from '#components/ui/native-select';
import type { Draft } from '#lib/console/gateway/found-model';
import { showTokens } from '#lib/console/show/tokens';
import type { FoundModel } from '#lib/control/operations/provider/discover';
import { type Abilities, type Ability, abilities, abilityWords } from '#lib/core/facts/abilities';

interface FoundRowProps {
  model: FoundModel;
  /** null: not selected. */
  draft: Draft | null;
  error: string | null;
  onChoose(on: boolean): void;
  onChange(part: Partial<Draft>): void;
}

const kinds = { text: null, embeddings: 'Embeddings', rerank: 'Rerank', other: null };

/** A model of the provider's list; if it is selected, with the fields of its offer. */
export function FoundRow({ model, draft, error, onChoose, onChange }: FoundRowProps) {
  const { upstreamModel, slug, offered, known, kind, contextTokens, price, priceOf } = model;
  const locked = offered || kind === 'other';
  const facts = [
    kinds[kind],
    contextTokens === null ? null : `${showTokens(contextTokens)} context`,
    known && !offered ? `known as ${slug}` : null,
    offered ? `offered as ${slug}` : null,
    kind === 'other' && !offered ? 'not text, embeddings or rerank: offer it with the command line' : null,
  ].filter((fact) => fact !== null);
  return (
    <li className="border-b px-2 py-1.5 last:border-b-0">
      <div className="flex items-start justify-between gap-3">
        {locked ? (
          <div className="py-1.5 pl-[2.125rem]">
            <Name upstreamModel={upstreamModel} facts={facts} />
          </div>
        ) : (
          <Checkbox checked={draft !== null} onChange={onChoose}>
            <Name upstreamModel={upstreamModel} facts={facts} />
          </Checkbox>
        )}
        <span className="flex shrink-0 gap-2 py-1.5 pr-2">
          {offered ? (
            <Badge tone="good">Offered</Badge>
          ) : known ? (
            <Badge tone="outline">In the catalogue</Badge>
          ) : null}
        </span>
      </div>
      {draft && !locked ? (
        <div className="grid gap-3 py-2 pr-2 pl-[2.125rem] sm:grid-cols-2 lg:grid-cols-6">
          <Box
            label="Slug"
            about={upstreamModel}
            value={draft.slug}
            onChange={(text) => onChange({ slug: text })}
            className="lg:col-span-2"
          />
          {draft.free ? null : (
            <>
              <Box
                label="Input, $ per million tokens"
                about={upstreamModel}
                value={draft.input}
                placeholder="0.50"
                onChange={(text) => onChange({ input: text })}
              />
              {kind === 'text' ? (
                <Box
                  label="Output, $ per million"
                  about={upstreamModel}
                  value={draft.output}
                  placeholder="1.50"
                  onChange={(text) => onChange({ output: text })}
                />
              ) : null}
            </>
          )}
          {known && draft.slug === slug ? null : (
            <>
              <Box
                label="Context, tokens"
                about={upstreamModel}
                value={draft.context}
                placeholder="131072"
                onChange={(text) => onChange({ context: text })}
              />
              <Box
                label="Longest answer, tokens"
                about={upstreamModel}
                value={draft.maxOutput}
                placeholder="8192"
                onChange={(text) => onChange({ maxOutput: text })}
              />
            </>
          )}
          <div className="flex items-center sm:col-span-2 lg:col-span-6">
            <Checkbox checked={draft.free} onChange={(free) => onChange({ free })}>
              Free of charge
            </Checkbox>
            {price && priceOf && !draft.free ? (
              <span className="text-muted text-xs">The price is that of {priceOf} in the catalogue.</span>
            ) : null}
          </div>
          {kind === 'text' ? (
            <AbilityChoices
              about={upstreamModel}
              known={draft.abilities}
              onChange={(known) => onChange({ abilities: known })}
            />
          ) : null}
          {error ? (
            <p className="text-bad text-xs leading-4 sm:col-span-2 lg:col-span-6 [overflow-wrap:anywhere]">
              {error}
            </p>
          ) : null}
        </div>
      ) : null}
    </li>
  );
}

const answers = [
  { value: '', label: 'Not known' },
  { value: 'yes', label: 'Yes' },
  { value: 'no', label: 'No' },
];

interface AbilityChoicesProps {
  about: string;
  known: Abilities;
  onChange(known: Abilities): void;
}

/** What the model can do here; calls that ask for what it cannot do go to other offers. */
function AbilityChoices({ about, known, onChange }: AbilityChoicesProps) {
  const said = abilities.filter((one) => known[one] !== undefined);
  const can = abilityWords(said.filter((one) => known[one]));
  const cannot = abilityWords(said.filter((one) => !known[one]));
  const summary = [can, cannot && `no ${cannot}`].filter(Boolean).join('; ');
  function set(ability: Ability, answer: string) {
    const { [ability]: _, ...others } = known;
    onChange(answer === '' ? others : { ...others, [ability]: answer === 'yes' });
  }
  return (
    <details className="sm:col-span-2 lg:col-span-6">
      <summary className="cursor-pointer text-muted text-xs leading-5">
        What it can do: {summary || 'not known, so calls may try'}
      </summary>
      <div className="grid grid-cols-2 gap-3 pt-2 sm:grid-cols-3 lg:grid-cols-5">
        {abilities.map((ability) => (
          <div key={ability} className="grid content-start gap-1">
            <span className="text-muted text-xs leading-4 first-letter:uppercase">
              {abilityWords([ability])}
            </span>
            <NativeSelect
              label={`${abilityWords([ability])} of ${about}`}
              value={known[ability] === undefined ? '' : known[ability] ? 'yes' : 'no'}
              options={answers}
              onChange={(answer) => set(ability, answer)}
            />
          </div>
        ))}
      </div>
    </details>
  );
}

function Name({ upstreamModel, facts }: { upstreamModel: string; facts: readonly string[] }) {
  return (
    <>
      <span className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]">{upstreamModel}</span>
      {facts.length > 0 ? (
        <span className="block text-muted text-xs leading-4 [overflow-wrap:anywhere]">
          {facts.join(' · ')}
        </span>
      ) : null}
    </>
  );
}

interface BoxProps {
  label: string;
  /** The model, for screen readers. */
  about: string;
  value: string;
  placeholder?: string;
  className?: string;
  onChange(text: string): void;
}

function Box({ label, about, value, placeholder, className = '', onChange }: BoxProps) {
  const id = useId();
  return (
    <div className={`grid content-start gap-1 ${className}`}>
      <label htmlFor={id} className="text-muted text-xs leading-4">
        {label}
        <span className="sr-only"> of {about}</span>
      </label>
      <Input
        id={id}
        autoComplete="off"
        spellCheck={false}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}
