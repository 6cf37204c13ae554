'use client';

import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { FaultsOf } from '#components/routing/name-lists';
import { usePolicyForm } from '#components/routing/policy-form-context';
import { PolicyKey } from '#components/routing/policy-key';
import { Button } from '#components/ui/button';
import { handFocusOn } from '#components/ui/hand-focus-on';
import { Input } from '#components/ui/input';
import { NamePicker } from '#components/ui/name-picker';
import { SortableList } from '#components/ui/sortable-list';
import { listOf, recordOf, withEntry } from '#lib/gateway/routing/pure/policy/read';

/** The aliases of the workspace, each for a model or a chain of models. */
export function AliasEditor() {
  const { policy, set, models, faultsAt } = usePolicyForm();
  const [name, setName] = useState('');
  const aliases = recordOf(policy.aliases);
  const put = (alias: string, target: unknown) => set('aliases', withEntry(aliases, alias, target));
  const chainOf = (target: unknown) => (typeof target === 'string' ? [target] : listOf(target));
  const fresh = name.trim();
  const taken = Object.hasOwn(aliases, fresh);
  const add = () => {
    if (fresh === '' || taken) return;
    put(fresh, []);
    setName('');
  };
  return (
    <PolicyKey name="aliases" label="Aliases" titled empty={{}}>
      <div className="grid gap-3">
        {Object.entries(aliases).map(([alias, target]) => {
          const chain = chainOf(target);
          const change = (next: readonly string[]) => put(alias, next.length === 1 ? next[0] : next);
          const own = faultsAt('aliases', alias).filter(({ at }) => at.length === 2 && chain.length > 0);
          return (
            <section
              key={alias}
              data-item
              aria-label={`Alias ${alias}`}
              className="grid gap-1.5 rounded-lg bg-sunken/60 p-2.5"
            >
              <header className="flex items-center justify-between gap-2">
                <h3 className="break-all font-medium font-mono text-[0.8125rem]">{alias}</h3>
                <Button
                  tone="quiet"
                  size="smallIcon"
                  data-removes
                  aria-label={`Remove the alias ${alias}`}
                  onClick={(event) => {
                    handFocusOn(event.currentTarget);
                    put(alias, undefined);
                  }}
                >
                  <Trash2 />
                </Button>
              </header>
              <SortableList
                label={`Models of ${alias}`}
                items={chain}
                onChange={change}
                note={(_model, index) => <FaultsOf faults={faultsAt('aliases', alias, String(index))} />}
              />
              <FaultsOf faults={own} />
              <NamePicker
                label={chain.length === 0 ? `Model for ${alias}` : `Add a fallback for ${alias}`}
                names={models.filter((one) => !chain.includes(one))}
                onPick={(one) => change([...chain, one])}
              />
            </section>
          );
        })}
        <div className="flex gap-2">
          <Input
            aria-label="New alias"
            placeholder="New alias, such as smart"
            className="h-8 font-mono text-[0.8125rem]"
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              add();
            }}
          />
          <Button size="small" onClick={add} disabled={fresh === '' || taken}>
            <Plus /> Add alias
          </Button>
        </div>
        {taken ? <p className="text-muted text-xs">{fresh} already exists.</p> : null}
      </div>
    </PolicyKey>
  );
}
