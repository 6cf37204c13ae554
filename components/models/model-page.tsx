import Link from 'next/link';
import type { ReactNode } from 'react';
import { ModelSnippets, type ShownSnippet } from '#components/models/model-snippets';
import { OfferTable } from '#components/models/offer-table';
import { PriceTables } from '#components/models/price-tables';
import { Retirement } from '#components/models/retirement';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { CopyButton } from '#components/ui/copy-button';
import type { ModelFactsRow, OfferRow, PriceTable } from '#lib/console/models/facts';
import { showDate } from '#lib/console/show/time';
import type { RetiredOffer } from '#lib/control/catalogue/list';

interface ModelPageProps {
  /** URL of the list of models. */
  list: string;
  model: ModelFactsRow;
  offers: readonly OfferRow[];
  /** Offers that their providers no longer serve. */
  retired: readonly RetiredOffer[];
  prices: readonly PriceTable[];
  protocols: readonly {
    readonly family: string;
    readonly name: string;
    readonly path: string;
    readonly budget: string | null;
    readonly translated: boolean;
    readonly tiers: readonly string[];
  }[];
  snippets: readonly ShownSnippet[];
  /** What the figures of the offers are based on; null: none are shown. */
  measured: string | null;
  /** Buttons beside the title. */
  actions: ReactNode;
}

/** One model: facts, examples, offers, prices, protocols. */
export function ModelPage(props: ModelPageProps) {
  const { list, model, offers, retired, prices, protocols, snippets, measured, actions } = props;
  return (
    <>
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="grid min-w-0 gap-1.5">
          <p className="text-muted text-xs">
            <Link href={list} className="hover:underline">
              Models
            </Link>{' '}
            / {model.vendor}
          </p>
          <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1 font-semibold text-xl tracking-tight">
            {model.name}
            <Badge tone={model.callable ? 'good' : 'outline'} dot={model.callable}>
              {model.callable ? 'Available' : 'Not available here'}
            </Badge>
            <Retirement day={model.retires} past={model.retired} />
          </h1>
          <p className="flex min-w-0 items-center gap-1">
            <code className="min-w-0 font-mono text-muted text-sm [overflow-wrap:anywhere]">{model.id}</code>
            <CopyButton value={model.id} what="slug" />
          </p>
        </div>
        <div className="flex flex-wrap gap-2">{actions}</div>
      </header>
      <Facts model={model} />
      <div className="grid min-w-0 gap-6">
        {snippets.length > 0 ? (
          <Section title="Call it" note="Examples with this gateway’s address and this model.">
            <div className="p-4">
              <ModelSnippets snippets={snippets} />
            </div>
          </Section>
        ) : null}
        <Section title="Offers" note={measured ?? 'In routing order when no policy is set.'}>
          {offers.length > 0 ? <OfferTable offers={offers} measured={measured !== null} /> : null}
          <Retired offers={retired} alone={offers.length === 0} />
        </Section>
        <PriceTables tables={prices} />
        {offers.length > 0 ? (
          <Section title="Protocols and parameters">
            <Protocols protocols={protocols} />
            <p className="border-t px-4 py-2.5 text-muted text-xs leading-5">
              Parameters are passed to the provider as you send them; the catalogue does not say which ones a
              model supports.
              {protocols.some(({ translated }) => translated)
                ? ' Calls in a translated protocol are rewritten in one that the provider speaks; fields without an equivalent are left out.'
                : null}
            </p>
          </Section>
        ) : null}
      </div>
    </>
  );
}

function Facts({ model }: { model: ModelFactsRow }) {
  const facts = [
    { name: 'Context', value: model.context, exact: model.exactContext },
    { name: 'Max output', value: model.maxOutput, exact: model.exactMaxOutput },
    { name: 'Input from', value: model.input && `${model.input}`, unit: 'per 1M tokens' },
    {
      name: 'Output from',
      value: model.output,
      unit: /\b(a|an|characters)\b/.test(model.output ?? '') ? '' : 'per 1M tokens',
    },
    { name: 'Input types', value: model.reads },
    { name: 'Output types', value: model.writes },
    { name: 'Released', value: model.released },
    ...(model.retires ? [{ name: model.retired ? 'Retired' : 'Retires', value: model.retires }] : []),
    { name: 'Capabilities', value: model.capabilities.join(', ') || null },
    ...(model.aliases.length > 0 ? [{ name: 'Aliases', value: model.aliases.join(', ') }] : []),
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-4 rounded-lg border bg-surface px-4 py-4 sm:grid-cols-4">
      {facts.map(({ name, value, ...more }) => (
        <div key={name} className="grid min-w-0 content-start gap-0.5">
          <dt className="text-muted text-xs">{name}</dt>
          <dd
            className="font-medium tabular-nums leading-5 [overflow-wrap:anywhere]"
            {...('exact' in more && more.exact ? { title: `${more.exact} tokens` } : {})}
          >
            {value ?? <span className="font-normal text-muted">Unknown</span>}
            {value && 'unit' in more && more.unit ? (
              <span className="font-normal text-muted text-xs"> {more.unit}</span>
            ) : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Retired({ offers, alone }: { offers: readonly RetiredOffer[]; alone: boolean }) {
  if (offers.length === 0) return null;
  return (
    <p className="border-t px-4 py-2.5 text-muted text-xs leading-5">
      {alone ? 'No provider serves this model any more, and calls to it are refused. ' : ''}
      {offers.map(({ providerName, day }) => `${providerName} retired it on ${showDate(day)}.`).join(' ')}
    </p>
  );
}

function Protocols({ protocols }: Pick<ModelPageProps, 'protocols'>) {
  return (
    <ul>
      {protocols.map(({ family, name, path, budget, translated, tiers }) => (
        <li
          key={family}
          className="grid gap-x-6 gap-y-1 border-b px-4 py-2.5 last:border-b-0 sm:grid-cols-[14rem_1fr]"
        >
          <span className="flex flex-wrap items-start gap-x-2 gap-y-1">
            <span className="font-medium">{name}</span>
            {translated ? <Badge tone="info">Translated</Badge> : null}
          </span>
          <span className="grid min-w-0 gap-1">
            <code className="font-mono text-xs leading-5 [overflow-wrap:anywhere]">{path}</code>
            <span className="text-muted text-xs leading-5">
              {budget ? (
                <>
                  Output limit: <code className="font-mono">{budget}</code>.{' '}
                </>
              ) : null}
              {translated ? null : tiersText(tiers)}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function tiersText(tiers: readonly string[]): string {
  return tiers.length > 0
    ? `Service tiers and modes with a price: ${tiers.join(', ')}.`
    : 'Only the standard service.';
}
