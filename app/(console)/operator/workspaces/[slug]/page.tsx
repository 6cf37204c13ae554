import { randomUUID } from 'node:crypto';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { AdjustmentForm } from '#components/fleet/adjustment-form';
import { Facts } from '#components/fleet/facts';
import { PlainForm } from '#components/fleet/plain-form';
import { SupportTables } from '#components/fleet/support-tables';
import { SureButton } from '#components/fleet/sure-button';
import { Suspension } from '#components/fleet/suspension';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { buttonStyle } from '#components/ui/button';
import { formOf } from '#lib/console/form';
import { readForPage } from '#lib/console/operation';
import { requireOperator } from '#lib/console/operator';
import { keyRowOf } from '#lib/console/show/key/rows';
import { showDay } from '#lib/console/show/time';
import { workspaceStatusOf } from '#lib/console/show/workspace-status';
import { auditRowOf } from '#lib/console/team/audit-rows';
import { supportRows } from '#lib/console/team/support-rows';
import { listCalls } from '#lib/control/operations/call/operations';
import { addCredit } from '#lib/control/operations/credit/operations';
import { grantCredit, listPromos } from '#lib/control/operations/credit/promo';
import { listKeys } from '#lib/control/operations/key/operations';
import { listMembers } from '#lib/control/operations/member/operations';
import { listActors } from '#lib/control/operations/trail/actors';
import { listAudit } from '#lib/control/operations/trail/operations';
import { showLimits } from '#lib/control/operations/workspace/limits';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { suspension, workspaceSettings } from '#lib/control/operations/workspace/settings';
import { exactMoney, showCount } from '#lib/core/show-money';
import { addCreditAction, grantCreditAction, setWorkspaceAction } from './actions';

const { rpm, tpm, concurrency, credit } = workspaceSettings;
const { suspendedReason, suspendedContact } = suspension;
const { amount, reason, expiresAt } = grantCredit.fields;
const lineFields = { amount: addCredit.fields.amount, reason: addCredit.fields.reason };
const limitFields = formOf({ rpm, tpm, concurrency, credit });

interface SupportPageProps {
  params: Promise<{ slug: string }>;
}

export async function generateMetadata({ params }: SupportPageProps): Promise<Metadata> {
  return { title: (await params).slug };
}

/** What an operator needs to help: read as an operator, never as one of the workspace's people. */
export default async function SupportPage({ params }: SupportPageProps) {
  await requireOperator();
  const { slug } = await params;
  const workspace = await readForPage(showWorkspace, slug, {});
  if (workspace.slug !== slug && workspace.id !== slug) notFound();
  const [limits, promos, members, keys, client, server, trail, actors] = await Promise.all([
    readForPage(showLimits, slug, {}),
    readForPage(listPromos, slug, { limit: 20 }),
    readForPage(listMembers, slug, { limit: 50 }),
    readForPage(listKeys, slug, { limit: 20 }),
    readForPage(listCalls, slug, { status: '4xx', limit: 10 }),
    readForPage(listCalls, slug, { status: '5xx', limit: 10 }),
    readForPage(listAudit, slug, { limit: 10 }),
    readForPage(listActors, slug, {}),
  ]);
  const nowMs = Date.now();
  const { name, suspended, timeZone } = workspace;
  const names = new Map(actors.data.map(({ actor, name: who }) => [actor, who]));
  const status = workspaceStatusOf(workspace, { nowMs });
  const used = (rate: { used: number; limit: number | null }) =>
    `${showCount(rate.used)} of ${rate.limit === null ? 'unlimited' : showCount(rate.limit)}`;
  return (
    <>
      <PageHead
        help="operator-workspaces"
        title={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="[overflow-wrap:anywhere]">{name}</span>
            <Badge tone={status.tone} dot>
              {status.text}
            </Badge>
          </span>
        }
        action={
          <div className="flex flex-wrap items-center gap-2">
            {suspended ? (
              <SureButton
                label="Resume"
                question={null}
                workspace={slug}
                input={{ suspended: false }}
                done="The workspace can make calls again"
                act={setWorkspaceAction}
              />
            ) : null}
            <a href={`/${workspace.slug}`} className={buttonStyle({ size: 'small' })}>
              Open its console
            </a>
          </div>
        }
      >
        This is the operator’s view of the workspace; you are not signed in as any of its members. It shows no
        requests, answers or secrets. Your changes are recorded in the workspace’s audit log.
      </PageHead>
      {status.tone === 'good' ? null : (
        <p
          className={`rounded-lg px-4 py-2.5 leading-5 [overflow-wrap:anywhere] ${status.tone === 'bad' ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`}
        >
          {status.why}
        </p>
      )}
      <Section title="Funds and limits">
        <Facts
          facts={[
            ['Balance', exactMoney(workspace.balance)],
            ['Credit limit', exactMoney(workspace.credit)],
            ['Held by running calls', exactMoney(workspace.held)],
            ['Available', exactMoney(workspace.available)],
            ['Requests in the last minute', used(limits.requests)],
            ['Tokens in the last minute', used(limits.tokens)],
            ['Concurrent calls', used(limits.atOnce)],
            ['Strict budget', workspace.strict ? 'On' : 'Off'],
            [
              'Monthly budget',
              workspace.budget === null
                ? 'None'
                : `${exactMoney(workspace.budget)}, ${workspace.budgetMode === 'hard' ? 'refuses calls' : 'only warns'}`,
            ],
            ['Slug', workspace.slug],
            ['Time zone', workspace.timeZone],
            [
              'Log retention',
              workspace.retentionDays === null ? 'Gateway default' : `${workspace.retentionDays} days`,
            ],
            ['Created', showDay(Date.parse(workspace.createdAt), 'UTC')],
          ]}
        />
      </Section>
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-2">
        <Section title="Promo credit" note="Spent before the rest of the balance">
          <PlainForm
            workspace={slug}
            fields={formOf({ amount, reason, expiresAt })}
            ownRef={randomUUID()}
            verb={{ idle: 'Add promo credit', pending: 'Adding…' }}
            done="Promo credit added"
            send={grantCreditAction}
          />
        </Section>
        <Section title="Limits">
          <PlainForm
            key={[workspace.rpm, workspace.tpm, workspace.concurrency, workspace.credit].join()}
            workspace={slug}
            fields={limitFields}
            initial={{
              rpm: String(workspace.rpm ?? ''),
              tpm: String(workspace.tpm ?? ''),
              concurrency: String(workspace.concurrency ?? ''),
              credit: workspace.credit,
            }}
            verb={{ idle: 'Save limits', pending: 'Saving…' }}
            done="Limits saved"
            send={setWorkspaceAction}
          />
        </Section>
        <Section title="Manual adjustment" note="Adds a line to the ledger">
          <AdjustmentForm
            workspace={slug}
            balance={workspace.balance}
            fields={formOf(lineFields)}
            ownRef={randomUUID()}
            send={addCreditAction}
          />
        </Section>
        <Suspension
          workspace={slug}
          suspended={suspended}
          fields={formOf({ suspendedReason, suspendedContact })}
          reason={workspace.suspendedReason}
          contact={workspace.suspendedContact}
          send={setWorkspaceAction}
        />
      </div>
      <SupportTables
        {...supportRows(
          {
            slug: workspace.slug,
            promos: promos.data,
            members: members.data,
            keys: keys.data.map((key) => keyRowOf(key, { workspace: workspace.slug, timeZone, nowMs })),
            refusals: limits.refusals,
            calls: [...client.data, ...server.data],
            trail: trail.data.map((row) => auditRowOf(row, { timeZone, nowMs, actors: names })),
          },
          nowMs,
        )}
      />
    </>
  );
}
