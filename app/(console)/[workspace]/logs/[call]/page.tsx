import { ChevronLeft } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { AttemptTimeline } from '#components/logs/attempt-timeline';
import { CallContent } from '#components/logs/call-content';
import { CallFacts } from '#components/logs/call-facts';
import { CallFeedback } from '#components/logs/call-feedback';
import { CallHead } from '#components/logs/call-head';
import { CostLines } from '#components/logs/cost-lines';
import { Figures } from '#components/logs/figures';
import { ForWhom } from '#components/logs/for-whom';
import { JobState } from '#components/logs/job-state';
import { QuantityList } from '#components/logs/quantity-list';
import { RefusalNote } from '#components/logs/refusal-note';
import { Section } from '#components/section';
import { hasPage } from '#components/shell/navigation';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { showFamily } from '#lib/console/models/family-names';
import { readForPage } from '#lib/console/operation';
import {
  attemptRowsOf,
  callRowOf,
  costRowsOf,
  feedbackRowOf,
  figuresOf,
  jobRowOf,
  usageSourceOf,
} from '#lib/console/show/call-rows';
import { usedClasses } from '#lib/console/show/cost-line';
import { showForeign } from '#lib/console/show/foreign';
import { findRefusalHelp, mendingPage } from '#lib/console/show/refusal-help';
import { showMoment, showZone } from '#lib/console/show/time';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { showCall } from '#lib/control/operations/call/operations';
import { showMoney } from '#lib/core/show-money';
import { setFeedbackAction, showContentAction } from '../actions';

interface CallPageProps {
  params: Promise<{ workspace: string; call: string }>;
}

export async function generateMetadata({ params }: CallPageProps): Promise<Metadata> {
  return { title: `Call ${(await params).call.slice(0, 13)}` };
}

/** One call by its request id. An unknown id and one of another workspace are the same not-found page. */
export default async function CallPage({ params }: CallPageProps) {
  const { workspace: slug, call: id } = await params;
  const member = await requireMember(slug, 'logs:read');
  const { workspace } = member;
  const call = await readForPage(showCall, slug, { id });
  const unreadable = lockOf(member, 'content:read', 'read the content of calls');
  const nowMs = Date.now();
  const row = callRowOf(call, { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs });
  const used = usedClasses(call.usage);
  const job = jobRowOf(call, { timeZone: workspace.timeZone, nowMs });
  const tags = Object.entries(call.tags).map(([name, value]) => ({ name, value }));
  const tagged = call.endUser !== null || tags.length > 0;
  const help = call.status >= 400 ? findRefusalHelp(call.errorCode, tagged) : null;
  return (
    <>
      <Link
        href={`/${workspace.slug}/logs`}
        className="-mb-3 inline-flex items-center gap-1 justify-self-start text-muted hover:text-ink"
      >
        <ChevronLeft aria-hidden className="size-4" />
        Logs
      </Link>
      <CallHead row={row} zone={showZone(workspace.timeZone, Date.parse(call.at))} />
      {help ? (
        <RefusalNote
          text={help.text}
          page={mendingPage(
            help,
            { workspace: workspace.slug, key: call.playground ? null : call.key },
            hasPage,
          )}
        />
      ) : null}
      <Figures figures={figuresOf(call)} />
      {job ? <JobState job={job} /> : null}
      <Section
        title="Attempts"
        note={call.attempts.length > 1 ? 'The next provider was tried before any response was sent.' : null}
      >
        {call.attempts.length > 0 ? (
          <AttemptTimeline attempts={attemptRowsOf(call)} />
        ) : (
          <p className="px-4 py-3 text-muted">Refused by the gateway before any provider was called.</p>
        )}
      </Section>
      <div className="grid min-w-0 gap-6 lg:grid-cols-[1fr_1.6fr]">
        <Section title="Usage" note={usageSourceOf(call)}>
          {used.length > 0 ? <QuantityList rows={used} /> : <p className="px-4 py-3 text-muted">No usage.</p>}
        </Section>
        <Section title="Cost" note="rounded once, up, to a nano-dollar">
          {call.lines.length > 0 ? (
            <CostLines rows={costRowsOf(call)} total={showMoney(call.cost)} exactTotal={call.cost} />
          ) : (
            <p className="px-4 py-3 text-muted">{nothingCharged(call.cost, job)}</p>
          )}
        </Section>
      </div>
      <CallFacts
        call={{
          ...call,
          protocol: showFamily(call.family),
          price: priceOf(call, workspace.timeZone),
          userAgent: call.userAgent === null ? null : showForeign(call.userAgent),
        }}
        keyHref={call.playground ? null : `/${workspace.slug}/keys/${call.key}`}
      />
      <ForWhom endUser={call.endUser} tags={tags} workspace={workspace.slug} />
      <Section title="Feedback">
        <CallFeedback
          workspace={workspace.slug}
          call={call.id}
          feedback={feedbackRowOf(call, { timeZone: workspace.timeZone, nowMs })}
          locked={lockOf(member, 'feedback:write', 'write feedback')}
          send={setFeedbackAction}
        />
      </Section>
      {call.contentUntil ? (
        <Section
          title="Content"
          note={`Kept until ${showMoment(Date.parse(call.contentUntil), workspace.timeZone)}`}
        >
          {unreadable ? (
            <p className="px-4 py-3 text-muted leading-5">{unreadable}</p>
          ) : (
            <CallContent workspace={workspace.slug} call={call.id} show={showContentAction} />
          )}
        </Section>
      ) : (
        <p className="text-muted text-xs leading-5">
          What this call was asked and answered is not kept.{' '}
          <Link href={`/${workspace.slug}/settings`} className="underline underline-offset-2">
            Change this in Settings
          </Link>
        </p>
      )}
    </>
  );
}

/** Why there are no lines: a job is charged when it ends; without a usage report, its hold is charged. */
function nothingCharged(cost: string, job: { cost: string | null; state: string } | null): string {
  if (job && job.cost === null) return 'The job is charged when it completes.';
  if (!job && cost !== '0') return `${showMoney(cost)}. No breakdown was kept.`;
  return cost === '0' ? 'No charge.' : `${showMoney(cost)}, the amount held for the job.`;
}

/** The price that the call was charged at; null: none, or it is not known any more. */
function priceOf({ priceVersion, priceSince }: CallDetail, zone: string) {
  if (priceVersion === null || priceSince === null) return null;
  return { version: priceVersion, text: `in effect since ${showMoment(Date.parse(priceSince), zone)}` };
}
