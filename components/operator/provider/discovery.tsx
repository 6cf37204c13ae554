'use client';

import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useEffect, useId, useRef, useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { FoundRow } from '#components/operator/provider/found-row';
import { Section } from '#components/section';
import { Button, buttonStyle } from '#components/ui/button';
import { Checkbox } from '#components/ui/checkbox';
import { Input } from '#components/ui/input';
import { ScrollRegion } from '#components/ui/scroll-region';
import { type Draft, draftOf, inputOf, markIn, unlisted } from '#lib/console/gateway/found-model';
import type { FoundModel } from '#lib/control/operations/provider/discover';

interface Found {
  readonly data: readonly FoundModel[];
  readonly more: boolean;
  /** What its names are, if calls cannot use all of them as they are. */
  readonly note: string | null;
  readonly failure: string | null;
}

interface DiscoveryProps {
  provider: { readonly id: string; readonly name: string };
  /** Look at once: the provider was added just now. */
  start: boolean;
  /** Where models can be tried; null: the user has no workspace. */
  playground: string | null;
  discover(input: { provider: string }): Promise<FormAnswer<Found>>;
  offer(input: object): Promise<FormAnswer<{ readonly models: readonly string[] }>>;
}

/** More rows are found by searching. */
const mostShown = 100;

/** The provider's own list of models, of which the operator chooses those to offer, with slugs and prices. */
export function Discovery({ provider, start, playground, discover, offer }: DiscoveryProps) {
  const router = useRouter();
  const [found, setFound] = useState<Found | null>(null);
  const [search, setSearch] = useState('');
  /** By the provider's name of the model. */
  const [chosen, setChosen] = useState<Readonly<Record<string, Draft>>>({});
  const [free, setFree] = useState(false);
  const [fault, setFault] = useState<{ readonly model: string | null; readonly message: string } | null>(
    null,
  );
  const [offered, setOffered] = useState<readonly string[]>([]);
  const [looking, startLooking] = useTransition();
  const [sending, startSending] = useTransition();

  function look() {
    startLooking(async () => {
      const answer = await orNoAnswer(discover({ provider: provider.id }));
      setFound(answer.ok ? answer.value : { data: [], more: false, note: null, failure: answer.message });
    });
  }
  const looked = useRef(!start);
  useEffect(() => {
    if (looked.current) return;
    looked.current = true;
    look();
  });

  const rows = found?.data ?? [];
  const matching = rows.filter(({ upstreamModel, slug }) =>
    `${upstreamModel} ${slug}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  const shown = matching.slice(0, mostShown);
  const selectable = shown.filter(({ offered: is, kind }) => !is && kind !== 'other');
  const count = Object.keys(chosen).length;
  const all = selectable.length > 0 && selectable.every(({ upstreamModel }) => upstreamModel in chosen);

  function choose(models: readonly FoundModel[], on: boolean) {
    const names = new Set(models.map(({ upstreamModel }) => upstreamModel));
    const kept = Object.entries(chosen).filter(([name]) => !names.has(name));
    const added = on ? models.map((model) => [model.upstreamModel, draftOf(model, free)] as const) : [];
    setChosen(Object.fromEntries([...kept, ...added]));
    setFault(null);
  }

  function change(name: string, part: Partial<Draft>) {
    setChosen((before) => {
      const draft = before[name];
      return draft ? { ...before, [name]: { ...draft, ...part } } : before;
    });
  }

  function makeFree(on: boolean) {
    setFree(on);
    setChosen((before) =>
      Object.fromEntries(Object.entries(before).map(([name, draft]) => [name, { ...draft, free: on }])),
    );
  }

  function addName(data: FormData, form: HTMLFormElement) {
    const name = String(data.get('name') ?? '').trim();
    if (name === '') return;
    const known = rows.find(({ upstreamModel }) => upstreamModel === name);
    const model = known ?? unlisted(provider.id, name);
    if (!known) setFound({ more: false, note: null, failure: null, ...found, data: [model, ...rows] });
    if (!model.offered) choose([model], true);
    setSearch('');
    form.reset();
  }

  function send() {
    const names = Object.keys(chosen);
    startSending(async () => {
      const models = names.flatMap((name) => {
        const model = rows.find(({ upstreamModel }) => upstreamModel === name);
        const draft = chosen[name];
        return model && draft ? [inputOf(model, draft)] : [];
      });
      const answer = await orNoAnswer(offer({ provider: provider.id, models }));
      if (!answer.ok) {
        const at = /^models\.(\d+)\./.exec(answer.field ?? '')?.[1];
        setFault({ model: at === undefined ? null : (names[Number(at)] ?? null), message: answer.message });
        return;
      }
      setFault(null);
      setChosen({});
      setOffered(answer.value.models);
      setFound(
        (before) => before && { ...before, data: before.data.map(markIn(answer.value.models, names)) },
      );
      router.refresh();
    });
  }

  return (
    <Section title="Add models" note={found && found.failure === null ? countText(found) : undefined}>
      <div className="grid gap-3 p-4">
        {found === null ? (
          <p className="text-muted leading-5">
            Read the list of models from {provider.name}, and choose which to offer under which slug and
            price.
          </p>
        ) : null}
        <p role="status" className="empty:hidden">
          {looking ? <span className="text-muted">Reading the list of models…</span> : null}
          {!looking && found?.failure ? (
            <span className="block rounded-md bg-bad-soft px-3 py-2 text-bad leading-5 [overflow-wrap:anywhere]">
              {`${found.failure.charAt(0).toUpperCase()}${found.failure.slice(1)}.`}
            </span>
          ) : null}
          {!looking && found?.failure === null && rows.length === 0 ? (
            <span className="text-muted">
              The list is empty. Load a model into the server and read the list again, or enter a name.
            </span>
          ) : null}
        </p>
        {!looking && found?.note ? <p className="text-muted leading-5">{found.note}</p> : null}
        {offered.length > 0 ? <Offered slugs={offered} playground={playground} /> : null}
        <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
          <Button tone={found === null ? 'primary' : 'plain'} disabled={looking} onClick={look}>
            {found === null ? 'Find models' : 'Read the list again'}
          </Button>
          {found === null ? null : <NameForm add={addName} />}
        </div>
      </div>
      {rows.length > 0 ? (
        <>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-t bg-sunken/60 px-4 py-2.5">
            <div className="w-full sm:w-64">
              <Input
                type="search"
                aria-label="Search models"
                placeholder="Search models"
                autoComplete="off"
                value={search}
                onChange={(event) => setSearch(event.currentTarget.value)}
              />
            </div>
            <Checkbox checked={all} onChange={(on) => choose(selectable, on)}>
              {matching.length > mostShown ? `Select the first ${mostShown}` : 'Select all'}
            </Checkbox>
            <Checkbox checked={free} onChange={makeFree}>
              Selected models are free of charge
            </Checkbox>
          </div>
          <ScrollRegion label="List of models" className="max-h-160 overflow-y-auto border-t">
            <ul>
              {shown.map((model) => (
                <FoundRow
                  key={model.upstreamModel}
                  model={model}
                  draft={chosen[model.upstreamModel] ?? null}
                  error={fault?.model === model.upstreamModel ? fault.message : null}
                  onChoose={(on) => choose([model], on)}
                  onChange={(part) => change(model.upstreamModel, part)}
                />
              ))}
            </ul>
          </ScrollRegion>
          {matching.length > mostShown ? (
            <p className="border-t px-4 py-2.5 text-muted text-xs">
              {matching.length - mostShown} more models: search for their names.
            </p>
          ) : null}
          <div className="flex flex-wrap items-center gap-3 border-t px-4 py-3">
            <Button tone="primary" disabled={count === 0 || sending} onClick={send}>
              {sending
                ? 'Adding…'
                : count === 0
                  ? 'Offer models'
                  : `Offer ${count} ${count === 1 ? 'model' : 'models'}`}
            </Button>
            {fault ? (
              <p role="alert" className="min-w-0 text-bad leading-5 [overflow-wrap:anywhere]">
                {fault.model === null ? fault.message : `Nothing was changed. See ${fault.model} above.`}
              </p>
            ) : null}
          </div>
        </>
      ) : null}
    </Section>
  );
}

function NameForm({ add }: { add(data: FormData, form: HTMLFormElement): void }) {
  const id = useId();
  return (
    <Form onSend={add} className="flex flex-wrap items-end gap-2">
      <div className="grid gap-1">
        <label htmlFor={id} className="text-muted text-xs">
          A model that is not in the list
        </label>
        <Input id={id} name="name" className="w-56" autoComplete="off" spellCheck={false} maxLength={300} />
      </div>
      <Button type="submit">Add name</Button>
    </Form>
  );
}

function Offered({ slugs, playground }: { slugs: readonly string[]; playground: string | null }) {
  const [first = ''] = slugs;
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-md bg-good-soft px-3 py-2">
      <p className="text-good leading-5 [overflow-wrap:anywhere]">
        {slugs.length === 1 ? `${first} can be called now.` : `${slugs.length} models can be called now.`}
      </p>
      {playground ? (
        <Link
          href={`/${playground}/playground?model=${encodeURIComponent(first)}`}
          prefetch={false}
          className={buttonStyle({ size: 'small' })}
        >
          Try in the playground
        </Link>
      ) : null}
    </div>
  );
}

function countText({ data, more }: Found): string {
  const models = data.length === 1 ? '1 model' : `${data.length.toLocaleString('en-US')} models`;
  return more ? `The first ${models} of the list` : models;
}
