import Link from 'next/link';
import { SpendBars } from '#components/keys/one/spend-bars';
import { CallTable } from '#components/logs/call-table';
import { Section } from '#components/section';
import { listUrl } from '#lib/console/list-url';
import type { Membership } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { callRowOf } from '#lib/console/show/call-rows';
import { showDay } from '#lib/console/show/time';
import { listCalls } from '#lib/control/operations/call/operations';
import { seriesOfUsage } from '#lib/control/operations/usage/operations';
import { rangeNamed } from '#lib/core/charts/ranges';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

interface KeyUseProps {
  workspace: Membership['workspace'];
  /** Id of the key. */
  id: string;
  nowMs: number;
}

const shownCalls = 10;

/** The key's spend on each of the last 30 days, including today. */
export async function KeySpend({ workspace: { slug, timeZone }, id, nowMs }: KeyUseProps) {
  const from = new Date(rangeNamed('30d', nowMs, timeZone).fromMs).toISOString();
  const series = await readForPage(seriesOfUsage, slug, { key: id, step: 'day', from });
  const points = series.groups[0]?.points ?? [];
  const most = Math.max(1, ...points.map(({ cost }) => Number(parseUsd(cost))));
  const days = series.starts.map((start, at) => {
    const { cost, calls } = points[at] ?? { cost: '0', calls: 0 };
    const to = series.starts[at + 1] ?? null;
    return {
      day: showDay(Date.parse(start), timeZone),
      cost: showMoney(cost),
      calls: `${showCount(calls)} ${calls === 1 ? 'call' : 'calls'}`,
      part: Number(parseUsd(cost)) / most,
      href: listUrl(`/${slug}/logs`, { key: id, from: start, to }),
    };
  });
  return (
    <Section
      title="Spend, 30 days"
      note={`${showMoney(series.cost)} in ${showCount(series.total.calls)} calls`}
    >
      {series.total.calls === 0 ? (
        <p className="px-4 py-3 text-muted">No calls in the last 30 days.</p>
      ) : (
        <SpendBars days={days} />
      )}
    </Section>
  );
}

/** The newest calls of the key, with a link to all of them. */
export async function KeyCalls({ workspace, id, nowMs, logHref }: KeyUseProps & { logHref: string }) {
  const { slug, timeZone } = workspace;
  const { data } = await readForPage(listCalls, slug, { key: id, limit: shownCalls });
  return (
    <section aria-labelledby="newest-calls" className="grid min-w-0 gap-3">
      <header className="flex items-baseline justify-between gap-4">
        <h2 id="newest-calls" className="font-semibold text-[0.8125rem]">
          Latest calls
        </h2>
        <Link href={logHref} className="text-muted underline underline-offset-2 hover:text-ink">
          All calls of this key
        </Link>
      </header>
      {data.length === 0 ? (
        <p className="rounded-lg border border-dashed px-4 py-6 text-center text-muted">
          No calls yet. A call appears here within 2 seconds of ending.
        </p>
      ) : (
        <CallTable calls={data.map((call) => callRowOf(call, { workspace: slug, timeZone, nowMs }))} />
      )}
    </section>
  );
}
