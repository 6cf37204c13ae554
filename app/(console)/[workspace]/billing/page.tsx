import type { Metadata } from 'next';
import { AutoTopUp } from '#components/billing/auto-top-up';
import { BalanceFacts } from '#components/billing/balance-facts';
import { BudgetForm } from '#components/billing/budget-form';
import { LatestLines } from '#components/billing/latest-lines';
import { LowBalanceForm } from '#components/billing/low-balance-form';
import { MonthFacts } from '#components/billing/month-facts';
import { TopUpForm } from '#components/billing/top-up-form';
import { TopUpReturn } from '#components/billing/top-up-return';
import { TopUpTable } from '#components/billing/top-up-table';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { promosInForce } from '#lib/console/billing/promos';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { getConsoleHost } from '#lib/console/db';
import { listUrl } from '#lib/console/list-url';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { monthWords } from '#lib/console/show/month';
import { showMonth as nameOfMonth, showZone } from '#lib/console/show/time';
import { pauseText } from '#lib/control/billing/auto/pause-text';
import { showAutoTopUp } from '#lib/control/operations/auto-top-up/operations';
import { listPromos } from '#lib/control/operations/credit/promo';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { showLowBalance } from '#lib/control/operations/low-balance/operations';
import { listTopUps, showTopUp } from '#lib/control/operations/top-up/operations';
import { showMonth } from '#lib/control/operations/workspace/month';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { dayName, knownZone } from '#lib/core/charts/zone';
import { may } from '#lib/core/role';
import { chooseColumnsAction } from '../../../columns-action';
import {
  cancelTopUpAction,
  createTopUpAction,
  openPortalAction,
  resumeAutoTopUpAction,
  setAutoTopUpAction,
  setBudgetAction,
  setLowBalanceAction,
} from './actions';

export const metadata: Metadata = { title: 'Billing' };

/** Number of newest lines; the full ledger has its own page. */
const latestLines = 6;
/** Older ones have mostly expired. */
const mostPromos = 50;

interface BillingPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function BillingPage({ params, searchParams }: BillingPageProps) {
  const member = await requireMember((await params).workspace, 'workspace:read');
  const { workspace, role } = member;
  const locked = lockOf(member, 'billing:write', 'add funds');
  const query = await searchParams;
  const one = (name: string) => [query[name]].flat()[0];
  const returned = one('top-up');
  const [sort, after, columns] = [one('sort'), one('after'), one('columns')];
  const pays = may(role, 'billing:read');
  const { slug, timeZone } = workspace;
  const { payments } = getConsoleHost().control;
  const configured = Boolean(payments);
  // Read first, so that the balance and the ledger include a credit that it reports.
  const back = pays && returned ? await readForPage(showTopUp, slug, { id: returned }) : null;
  const [funds, month, ledger, low, promos, chosen, topUps, automatic] = await Promise.all([
    readForPage(showWorkspace, slug, {}),
    readForPage(showMonth, slug, {}),
    readForPage(listLedger, slug, { order: 'newest', limit: latestLines }),
    readForPage(showLowBalance, slug, {}),
    readForPage(listPromos, slug, { limit: mostPromos }),
    readChosenColumns('topUps', query),
    pays ? readForPage(listTopUps, slug, { sort, after, limit: 10 }) : null,
    pays && configured && !workspace.demo ? readForPage(showAutoTopUp, slug, {}) : null,
  ]);
  const path = `/${slug}/billing`;
  return (
    <>
      <PageHead help="billing" title="Billing">
        The workspace’s funds, and every change to its balance.
      </PageHead>
      {back ? (
        <TopUpReturn
          topUp={back}
          canceled={one('canceled') === 'true'}
          workspace={slug}
          cancel={locked === null ? cancelTopUpAction : null}
        />
      ) : null}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <BalanceFacts
          funds={funds}
          ledger={`${path}/ledger`}
          promos={promosInForce(promos.data, { zone: timeZone, nowMs: Date.now() })}
        >
          {locked === null ? (
            <LowBalanceForm
              workspace={slug}
              threshold={low.threshold}
              below={low.below}
              send={setLowBalanceAction}
            />
          ) : null}
        </BalanceFacts>
        <Section title="Add funds" note="US dollars, by card">
          <div className="p-4">
            {locked === null && !workspace.demo ? (
              configured ? (
                <>
                  {payments?.standIn ? <PlayMoney /> : null}
                  <TopUpForm workspace={slug} send={createTopUpAction} />
                </>
              ) : (
                <p className="text-muted leading-6">
                  Payments are not set up. To take payments, your gateway administrator sets{' '}
                  <code>STRIPE_SECRET_KEY</code> and <code>STRIPE_WEBHOOK_SECRET</code> and restarts the
                  gateway; until then, an operator can add credit manually.
                </p>
              )
            ) : (
              <p className="text-muted leading-6">
                {workspace.demo
                  ? 'This demo workspace uses simulated funds. Top up another workspace instead.'
                  : locked}
              </p>
            )}
          </div>
        </Section>
      </div>
      <MonthFacts
        month={nameOfMonth(dayName(Date.parse(month.from), knownZone(timeZone)).slice(0, 7))}
        words={monthWords(month, timeZone)}
      >
        {locked === null ? (
          <BudgetForm
            key={`${funds.budget} ${funds.budgetMode}`}
            workspace={slug}
            budget={funds.budget}
            mode={funds.budgetMode}
            send={setBudgetAction}
          />
        ) : null}
      </MonthFacts>
      {automatic ? (
        <AutoTopUp
          shown={automatic}
          pausedWhy={automatic.paused && pauseText(automatic.paused)}
          workspace={slug}
          zone={timeZone}
          actions={
            locked === null
              ? { set: setAutoTopUpAction, resume: resumeAutoTopUpAction, portal: openPortalAction }
              : null
          }
        />
      ) : null}
      {topUps && topUps.data.length > 0 ? (
        <Section
          title="Top-ups"
          note={<ListColumnsButton table="topUps" remembered={chosen} remember={chooseColumnsAction} />}
        >
          <TopUpTable
            topUps={topUps.data}
            columns={shownColumns('topUps', chosen)}
            zone={timeZone}
            workspace={slug}
            cancel={locked === null ? cancelTopUpAction : null}
          />
          {after || topUps.next ? (
            <div className="border-t px-4 py-3">
              <PagesNav
                label="Pages of top-ups"
                words={sort ? { first: 'First', next: 'More' } : { first: 'Newest', next: 'Older' }}
                first={after ? listUrl(path, { sort, columns }) : null}
                next={topUps.next ? listUrl(path, { sort, columns, after: topUps.next }) : null}
              >
                Times in {showZone(timeZone, Date.now())}.
              </PagesNav>
            </div>
          ) : null}
        </Section>
      ) : null}
      <LatestLines lines={ledger.data} workspace={slug} zone={timeZone} />
    </>
  );
}

function PlayMoney() {
  return (
    <p role="note" className="mb-4 rounded-md bg-warn-soft px-3 py-2 text-warn leading-5">
      Test payments: this gateway uses a simulated Stripe. No card is charged, and top-ups add simulated money
      (play money), which pays only for simulated models.
    </p>
  );
}
