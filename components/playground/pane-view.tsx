'use client';

import { Code, Eraser, RotateCcw, X } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { Pane } from '#components/playground/use-pane';
import { Button } from '#components/ui/button';
import { NativeSelect } from '#components/ui/native-select';
import { later } from '#components/ui/on-demand';
import type { PlaygroundModel } from '#lib/console/playground/choices';
import type { Example } from '#lib/console/playground/code';
import type { PlaygroundFamily } from '#lib/console/playground/draft';

/** Loaded with the first question. */
const RunView = later(() => import('#components/playground/run-view').then((all) => all.RunView));
const CodeDialog = later(() => import('#components/playground/code-dialog').then((all) => all.CodeDialog));

interface PaneViewProps {
  /** "Model", "Second model". */
  label: string;
  /** Slug. */
  workspace: string;
  pane: Pane;
  models: readonly PlaygroundModel[];
  /** null: not chosen yet. */
  model: PlaygroundModel | null;
  family: PlaygroundFamily;
  familyNames: Readonly<Record<PlaygroundFamily, string>>;
  examples: readonly Example[];
  onModel(id: string): void;
  onFamily(family: string): void;
  /** Not set: it cannot be removed. */
  onRemove?: () => void;
}

/** One model with its protocol and its answers. */
export function PaneView(props: PaneViewProps) {
  const {
    label,
    workspace,
    pane,
    models,
    model,
    family,
    familyNames,
    examples,
    onModel,
    onFamily,
    onRemove,
  } = props;
  const [coding, code] = useState(false);
  const last = pane.runs.at(-1);
  return (
    <section aria-label={label} className="flex min-h-72 min-w-0 flex-col rounded-lg border bg-surface">
      <header className="flex min-w-0 flex-wrap items-center gap-2 border-b p-2.5">
        <NativeSelect
          label={label}
          value={model?.id ?? ''}
          options={[
            ...(model ? [] : [{ value: '', label: 'Choose a model' }]),
            ...models.map(({ id, fault }) => ({
              value: id,
              label: id,
              ...(fault ? { group: 'Simulated faults' } : {}),
            })),
          ]}
          className="min-w-40 flex-1"
          onChange={onModel}
        />
        {model ? (
          <NativeSelect
            label={`Protocol of the ${label.toLowerCase()}`}
            value={family}
            options={model.families.map((one) => ({
              value: one,
              label: `${familyNames[one]}${model.translated.includes(one) ? ' (translated)' : ''}`,
            }))}
            className="w-60 shrink-0"
            onChange={onFamily}
          />
        ) : null}
        {onRemove ? (
          <Button
            tone="quiet"
            size="smallIcon"
            aria-label={`Remove the ${label.toLowerCase()}`}
            onClick={onRemove}
          >
            <X />
          </Button>
        ) : null}
      </header>
      <div className="grid min-w-0 flex-1 content-start gap-6 p-4">
        {pane.runs.length === 0 ? (
          <p className="place-self-center py-12 text-center text-muted">
            {model
              ? 'Responses appear here.'
              : 'Choose a model to compare. Until then, only the first one runs.'}
          </p>
        ) : (
          <Suspense fallback={null}>
            {pane.runs.map((run) => (
              <RunView key={run.id} run={run} workspace={workspace} />
            ))}
          </Suspense>
        )}
      </div>
      <p role="status" className="sr-only">
        {last && model ? `${model.id}: ${last.state === 'running' ? 'answering' : last.state}` : ''}
      </p>
      {last ? (
        <footer className="flex flex-wrap items-center gap-1 border-t p-1.5">
          <Button tone="quiet" size="small" disabled={pane.running} onClick={pane.repeat}>
            <RotateCcw />
            Run again
          </Button>
          <Button tone="quiet" size="small" aria-haspopup="dialog" onClick={() => code(true)}>
            <Code />
            View code
          </Button>
          <Button tone="quiet" size="small" className="ml-auto" onClick={pane.clear}>
            <Eraser />
            Clear
          </Button>
        </footer>
      ) : null}
      {coding && last ? (
        <Suspense fallback={null}>
          <CodeDialog request={last.request} examples={examples} onClose={() => code(false)} />
        </Suspense>
      ) : null}
    </section>
  );
}
