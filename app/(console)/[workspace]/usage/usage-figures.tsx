import { ChartColumn, Download, TriangleAlert } from 'lucide-react';
import Link from 'next/link';
import { DeltaBadge } from '#components/charts/delta-badge';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { ChartPanel } from '#components/usage/chart-panel';
import { LedgerNote } from '#components/usage/ledger-note';
import { TotalsStrip } from '#components/usage/totals-strip';
import type { Membership } from '#lib/console/member';
import { readForPage, tryForPage } from '#lib/console/operation';
import { clockWithSeconds } from '#lib/console/show/bucket-labels';
import { showFigure } from '#lib/console/show/figure';
import { monthSentence } from '#lib/console/show/month';
import { showRange } from '#lib/console/show/range';
import { showZoneOver } from '#lib/console/show/time';
import type { UsageAddress, UsageQuestion } from '#lib/console/usage/address';
import { chartOf } from '#lib/console/usage/chart';
import { logFiltersOf } from '#lib/console/usage/log-link';
import type { MetricName } from '#lib/console/usage/metrics';
import { groupings, inSentence, usageAddress } from '#lib/console/usage/parameters';
import { totalsOf } from '#lib/console/usage/totals';
import { ledgerOfUsage, seriesOfUsage } from '#lib/control/operations/usage/operations';
import { showMonth } from '#lib/control/operations/workspace/month';
import { dayCeiling, dayStart } from '#lib/core/charts/zone';
import { deltaOf } from '#lib/core/delta';
import { showMoney } from '#lib/core/show-money';

const strip: readonly MetricName[] = [
  'spend',
  'requests',
  'errors',
  'tokens',
  'latency-p50',
  'latency-p95',
  'first-byte-p50',
  'first-byte-p95',
];

interface UsageFiguresProps {
  workspace: Membership['workspace'];
  address: UsageAddress;
  question: UsageQuestion;
  nowMs: number;
  /** The raw query, for settings that only change the display. */
  query: Readonly<Record<string, string | string[] | undefined>>;
}

/** The figures, the chart and the tables for the query. */
export async function UsageFigures({ workspace, address, question, nowMs, query }: UsageFiguresProps) {
  const here = `/${workspace.slug}/usage`;
  if (question.fault) return <Refused text={question.fault} href={here} />;
  const narrowed = Boolean(address.model || address.provider || address.key);
  const [found, ledger, month] = await Promise.all([
    tryForPage(seriesOfUsage, workspace.slug, { ...question.timed, ...question.compared }),
    narrowed ? null : readForPage(ledgerOfUsage, workspace.slug, question.span),
    narrowed ? null : readForPage(showMonth, workspace.slug, {}),
  ]);
  if (!found.ok)
    return <Refused text={found.message} href={usageAddress(here, { ...address, by: 'model' })} />;
  const { value: series } = found;
  const filters = withoutNull({ model: address.model, provider: address.provider, key: address.key });
  const shown = { metric: address.metric, by: question.by, filters, workspace: workspace.slug };
  const everything = logFiltersOf({ by: null, value: null, filters, errors: address.metric === 'errors' });
  const chart = chartOf(series, shown, everything);
  const figures = totalsOf(series, strip).map((figure) => ({
    ...figure,
    href: withView(usageAddress(here, { ...address, metric: figure.metric }), query),
  }));
  const [fromMs, toMs] = [Date.parse(series.from), Date.parse(series.to)];
  const wholeDays = dayStart(fromMs, series.timeZone) === fromMs;
  const range = showRange(
    fromMs,
    toMs > nowMs && wholeDays ? dayCeiling(toMs, series.timeZone) : toMs,
    series.timeZone,
  );
  const compared = showRange(Date.parse(series.before.from), Date.parse(series.before.to), series.timeZone);
  const head = (
    <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1 px-4">
      <div className="grid min-w-0 gap-0.5">
        <h2 className="font-semibold text-[0.8125rem]">
          {chart.title}
          {question.by === 'none' ? '' : ` by ${inSentence(groupings[question.by])}`}
        </h2>
        <p className="flex flex-wrap items-baseline gap-2">
          <span className="font-semibold text-lg tabular-nums tracking-tight">
            {showFigure(chart.kind, chart.total)}
          </span>
          <DeltaBadge delta={deltaOf(chart.total, chart.beforeTotal)} moreIsWorse={chart.kind === 'span'} />
          {chart.beforeTotal ? (
            <span className="text-muted text-xs">
              {showFigure(chart.kind, chart.beforeTotal)} in {compared}
            </span>
          ) : null}
        </p>
      </div>
      <p className="text-muted text-xs leading-5">
        {range} · {showZoneOver(series.timeZone, fromMs, toMs)}
        {toMs > nowMs ? ` · data to ${clockWithSeconds(nowMs, series.timeZone)}` : ''}
      </p>
    </div>
  );
  return (
    <>
      {month ? (
        <p className="text-muted text-xs leading-5">{monthSentence(month, workspace.timeZone)}</p>
      ) : null}
      <TotalsStrip figures={figures} current={address.metric} />
      {series.total.calls === 0 ? (
        <EmptyState
          icon={<ChartColumn />}
          title={narrowed ? 'No matching calls' : 'No calls in this range'}
          action={
            <Link
              href={
                narrowed
                  ? usageAddress(here, { ...address, model: null, provider: null, key: null })
                  : usageAddress(here, { range: '12m' })
              }
              className={buttonStyle()}
            >
              {narrowed ? 'Clear filters' : 'Show the last 12 months'}
            </Link>
          }
        >
          {range}, {showZoneOver(series.timeZone, fromMs, toMs)}. A call is counted as soon as it ends.
        </EmptyState>
      ) : (
        <ChartPanel
          chart={chart}
          heading={question.by === 'none' ? 'Calls' : groupings[question.by]}
          head={head}
          action={
            <a
              href={usageAddress(`${here}/csv`, address)}
              download
              className={buttonStyle({ size: 'small' })}
            >
              <Download />
              CSV
            </a>
          }
        />
      )}
      {ledger ? (
        <LedgerNote
          usage={showMoney(ledger.usage)}
          posted={showMoney(ledger.posted)}
          difference={ledger.difference === '0' ? null : showMoney(ledger.difference)}
        />
      ) : null}
    </>
  );
}

function Refused({ text, href }: { text: string; href: string }) {
  return (
    <EmptyState
      icon={<TriangleAlert />}
      title="These figures cannot be shown"
      action={
        <Link href={href} className={buttonStyle()}>
          Show it by model
        </Link>
      }
    >
      {text}
    </EmptyState>
  );
}

type Filters = Readonly<Record<'model' | 'provider' | 'key', string | undefined>>;

function withoutNull(given: Readonly<Record<keyof Filters, string | null>>): Filters {
  return {
    model: given.model ?? undefined,
    provider: given.provider ?? undefined,
    key: given.key ?? undefined,
  };
}

/** Keeps the selected table and its columns. */
function withView(href: string, query: UsageFiguresProps['query']): string {
  const view = ['table', 'columns'].flatMap((name) => {
    const value = [query[name]].flat()[0];
    return value ? [`${name}=${encodeURIComponent(value)}`] : [];
  });
  return view.length > 0 ? `${href}${href.includes('?') ? '&' : '?'}${view.join('&')}` : href;
}
