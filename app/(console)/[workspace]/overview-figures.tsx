import Link from 'next/link';
import { CallTable } from '#components/logs/call-table';
import { Cards } from '#components/overview/cards';
import { GroupList } from '#components/overview/group-list';
import { Notices } from '#components/overview/notices';
import { SpendChart } from '#components/overview/spend-chart';
import { Section } from '#components/section';
import type { Membership } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { callRowOf } from '#lib/console/show/call-rows';
import { monthWords } from '#lib/console/show/month';
import { noticesOf, showDaysLeft } from '#lib/console/show/notices';
import { showZone } from '#lib/console/show/time';
import { namedQuestion } from '#lib/console/usage/address';
import { chartOf } from '#lib/console/usage/chart';
import { logHref } from '#lib/console/usage/log-href';
import type { MetricName } from '#lib/console/usage/metrics';
import { usageAddress } from '#lib/console/usage/parameters';
import { type TotalFigure, totalsOf } from '#lib/console/usage/totals';
import { listCalls } from '#lib/control/operations/call/operations';
import type { Overview } from '#lib/control/operations/overview/operations';
import { seriesOfUsage } from '#lib/control/operations/usage/operations';
import type { UsageSeries } from '#lib/control/operations/usage/series';
import type { RangeName } from '#lib/core/charts/ranges';
import { deltaOf } from '#lib/core/delta';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

const mostCalls = 10;
const rangeNotes: Readonly<Record<string, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};
const shown: readonly MetricName[] = ['requests', 'errors', 'latency-p50', 'latency-p95', 'first-byte-p50'];

interface OverviewFiguresProps {
  workspace: Membership['workspace'];
  found: Overview;
  range: RangeName;
  nowMs: number;
}

/** The balance, traffic, spend by model and the latest calls. */
export async function OverviewFigures({ workspace, found, range, nowMs }: OverviewFiguresProps) {
  const { slug, timeZone } = workspace;
  const usage = `/${slug}/usage`;
  const read = (name: RangeName, by?: 'model') =>
    readForPage(seriesOfUsage, slug, { ...namedQuestion(name, nowMs, timeZone), by });
  const [series, today, month, lastDay, { data: calls }] = await Promise.all([
    read(range, 'model'),
    read('today'),
    read('month'),
    read('24h'),
    readForPage(listCalls, slug, { limit: mostCalls }),
  ]);
  const spent = (of: typeof today, name: string, asked: RangeName) => {
    const [spend] = totalsOf(of, ['spend']);
    return spend ? [{ ...spend, name, href: usageAddress(usage, { range: asked }) }] : [];
  };
  const figures = totalsOf(series, shown).map((figure) => ({
    ...(figure.metric === 'errors' ? asRate(figure, series) : figure),
    href: usageAddress(usage, { range, metric: figure.metric }),
  }));
  const words = monthWords(found.month, timeZone);
  const chart = chartOf(series, { metric: 'spend', by: 'model', filters: {}, workspace: slug }, {});
  const limitedHref = logHref(`/${slug}/logs`, { outcome: 'limit' }, lastDay);
  const notices = noticesOf(found, slug, { limited: lastDay.total.errorsBy.limit, limitedHref });
  return (
    <>
      <Notices notices={notices} />
      <div className="grid min-w-0 gap-3">
        <Cards
          label="Money"
          figures={[
            {
              name: 'Available',
              value: showMoneyDown(found.available),
              exact: `$${found.available}`,
              note:
                found.daysLeft === null
                  ? found.perDay === '0'
                    ? 'no spend in 7 days'
                    : `spending ${showMoney(found.perDay)} a day`
                  : `${showDaysLeft(found.daysLeft)} at ${showMoney(found.perDay)} a day`,
              href: usageAddress(usage, { range: '7d' }),
            },
            ...(found.simulated === '0'
              ? []
              : [
                  {
                    name: 'Simulated money',
                    value: showMoneyDown(found.simulated),
                    exact: `$${found.simulated}`,
                    note: 'pays only for simulated models',
                    href: `/${slug}/billing`,
                  },
                ]),
            ...spent(today, 'Spend today', 'today'),
            ...spent(month, 'Spend this month', 'month'),
            ...(words.forecast
              ? [{ name: 'Forecast for the month', ...words.forecast, href: `/${slug}/billing` }]
              : []),
            ...(words.budget
              ? [
                  {
                    name: 'Budget left',
                    value: words.budget.left,
                    exact: words.budget.exact,
                    note: words.budget.note,
                    href: `/${slug}/billing`,
                  },
                ]
              : []),
          ]}
        />
        <Cards label={rangeNotes[range] ?? range} figures={figures} />
      </div>
      <Section
        title="Spend by model"
        note={`${rangeNotes[range] ?? range}, ${showMoney(series.cost)} · ${showZone(timeZone, nowMs)}`}
      >
        <div className="grid min-w-0 grid-cols-1 xl:grid-cols-[minmax(0,1fr)_19rem] xl:divide-x">
          <SpendChart chart={chart} />
          <GroupList chart={chart} more={usageAddress(usage, { range })} />
        </div>
      </Section>
      <section aria-labelledby="last-calls" className="grid min-w-0 gap-2">
        <header className="flex items-baseline justify-between gap-4">
          <h2 id="last-calls" className="font-semibold text-[0.8125rem]">
            Latest calls
          </h2>
          <Link href={`/${slug}/logs`} className="text-muted text-xs hover:text-ink hover:underline">
            All calls
          </Link>
        </header>
        <CallTable calls={calls.map((call) => callRowOf(call, { workspace: slug, timeZone, nowMs }))} />
      </section>
    </>
  );
}

/** Shows errors as a share of the requests, with their number as the note. */
function asRate(figure: TotalFigure, { total, before }: UsageSeries): TotalFigure {
  return {
    ...figure,
    name: 'Error rate',
    value: figure.note ?? '–',
    note: `${figure.value} ${total.errors === 1 ? 'error' : 'errors'}`,
    delta: deltaOf(total.errorRate, before.total.errorRate),
  };
}
