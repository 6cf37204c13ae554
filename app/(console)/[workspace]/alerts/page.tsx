import type { Metadata } from 'next';
import Link from 'next/link';
import { CreateWebhook } from '#components/alerts/create-webhook';
import { DeliveryTable } from '#components/alerts/delivery-table';
import { ViewList } from '#components/alerts/view-list';
import { WebhookTable } from '#components/alerts/webhook-table';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { SettingsForm } from '#components/settings/settings-form';
import { Badge } from '#components/ui/badge';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { getConsoleHost } from '#lib/console/db';
import { formOf } from '#lib/console/form';
import { listUrl } from '#lib/console/list-url';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showMoment, showZone } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';
import { deliveryRowOf } from '#lib/console/team/delivery-rows';
import { listAlerts, setAlerts, showAlertSettings } from '#lib/control/operations/alert/operations';
import { listViews } from '#lib/control/operations/view/operations';
import { mostViews, viewAlertFields } from '#lib/control/operations/view/settings';
import { createWebhook, listDeliveries, listWebhooks } from '#lib/control/operations/webhook/operations';
import { showCount } from '#lib/core/show-money';
import { chooseColumnsAction } from '../../../columns-action';
import {
  alertOnViewAction,
  createWebhookAction,
  deleteWebhookAction,
  endViewAlertAction,
  redeliverAction,
  setAlertsAction,
  setWebhookAction,
  subscribeViewAction,
  testWebhookAction,
  unsubscribeViewAction,
} from './actions';

export const metadata: Metadata = { title: 'Alerts' };

const settingsForm = formOf(setAlerts.fields).map((field) =>
  field.kind === 'switch'
    ? { ...field, label: `${field.label}: ${field.help.charAt(0).toLowerCase()}${field.help.slice(1)}` }
    : field,
);
const alertForm = formOf(viewAlertFields);
const viewActions = {
  subscribe: subscribeViewAction,
  unsubscribe: unsubscribeViewAction,
  alert: alertOnViewAction,
  endAlert: endViewAlertAction,
};

interface AlertsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function AlertsPage({ params, searchParams }: AlertsPageProps) {
  const member = await requireMember((await params).workspace, 'workspace:read');
  const { slug, timeZone } = member.workspace;
  const query = await searchParams;
  const one = (name: string) => [query[name]].flat()[0];
  const [after, chosen] = [one('after'), one('webhook') ?? null];
  const [sort, deliveriesAfter] = [one('deliveries'), one('deliveriesAfter')];
  const [alerts, settings, views, webhooks, columns, deliveries] = await Promise.all([
    readForPage(listAlerts, slug, { after, limit: 20 }),
    readForPage(showAlertSettings, slug, {}),
    readForPage(listViews, slug, { limit: mostViews }),
    readForPage(listWebhooks, slug, { limit: 100 }),
    readChosenColumns('deliveries', query),
    chosen === null
      ? null
      : readForPage(listDeliveries, slug, { id: chosen, sort, after: deliveriesAfter, limit: 50 }),
  ]);
  const nowMs = Date.now();
  const locked = lockOf(member, 'workspace:write', 'change the alerts');
  const mayChange = locked === null;
  const here = `/${slug}/alerts`;
  const ofDeliveries = {
    webhook: chosen,
    deliveries: sort,
    deliveriesColumns: one('deliveriesColumns'),
    hooks: one('hooks'),
  };
  return (
    <>
      <PageHead help="alerts" title="Alerts">
        Owners and admins get an email, and your servers a webhook, once when an alert starts.
      </PageHead>
      <Section title="Recent alerts" note={`Times in ${showZone(timeZone, nowMs)}`}>
        {alerts.data.length === 0 ? (
          <p className="px-4 py-3 text-muted">No alerts yet.</p>
        ) : (
          <ol className="divide-y">
            {alerts.data.map(({ id, title, text, page, raisedAt, endedAt }) => (
              <li key={id} className="grid gap-0.5 px-4 py-2.5">
                <span className="flex flex-wrap items-center justify-between gap-x-4">
                  <Link
                    href={`/${slug}/${page}`}
                    prefetch={false}
                    className="min-w-0 font-medium [overflow-wrap:anywhere] hover:underline"
                  >
                    {title}
                  </Link>
                  <span className="flex items-center gap-2 text-muted text-xs tabular-nums">
                    {endedAt === null ? (
                      <Badge tone="warn">active</Badge>
                    ) : (
                      <Badge tone="outline">resolved</Badge>
                    )}
                    {showMoment(Date.parse(raisedAt), timeZone)}
                  </span>
                </span>
                <span className="text-muted leading-5 [overflow-wrap:anywhere]">{text}</span>
              </li>
            ))}
          </ol>
        )}
      </Section>
      {after || alerts.next ? (
        <PagesNav
          label="Pages of alerts"
          first={after ? here : null}
          next={alerts.next ? listUrl(here, { after: alerts.next }) : null}
        >
          Newest first.
        </PagesNav>
      ) : null}
      <Section title="What to alert about">
        <SettingsForm
          key={JSON.stringify(settings)}
          workspace={slug}
          fields={settingsForm}
          initial={{
            ...settings,
            badPercent: String(settings.badPercent),
            badRated: String(settings.badRated),
          }}
          locked={locked}
          send={setAlertsAction}
          saved="Alerts saved"
        />
      </Section>
      <Section title="Saved views" anchor="saved-views">
        {getConsoleHost().env.mails ? null : (
          <p className="border-b px-4 py-2.5 text-muted leading-5">
            This gateway sends no email. Weekly emails begin when its operator sets SMTP_URL.
          </p>
        )}
        {views.data.length === 0 ? (
          <p className="px-4 py-3 text-muted leading-5">
            No saved views yet. Save the filters of the log or of usage there with “Views”; here you get them
            by email every week, and set alerts on their number of calls.
          </p>
        ) : (
          <ViewList
            workspace={slug}
            views={views.data.map(({ id, page, name, query, shared, weekly, alert }) => ({
              ...{ id, name, shared, weekly },
              href: `/${slug}/${page}${query === '' ? '' : `?${query}`}`,
              alert: alert && {
                ...alert,
                text: `Alert above ${showCount(alert.over)} calls in the last ${alert.window === 'day' ? '24 hours' : 'hour'}`,
              },
            }))}
            fields={alertForm}
            mayAlert={mayChange}
            mayChange={lockOf(member, 'logs:read', '') === null}
            actions={viewActions}
          />
        )}
      </Section>
      <section aria-labelledby="webhooks" className="grid min-w-0 gap-3">
        <header className="flex flex-wrap items-end justify-between gap-3">
          <div className="grid gap-1">
            <h2 id="webhooks" className="font-semibold text-base">
              Webhooks
            </h2>
            <p className="max-w-2xl text-muted leading-5">
              Each alert is sent as signed JSON to a public HTTPS address of yours. Failed deliveries are
              retried for 24 hours.
            </p>
          </div>
          {mayChange ? (
            <CreateWebhook
              workspace={slug}
              fields={formOf(createWebhook.fields)}
              create={createWebhookAction}
            />
          ) : null}
        </header>
        {webhooks.data.length > 0 ? (
          <WebhookTable
            workspace={slug}
            webhooks={sortRows(webhooks.data, readSort(one('hooks')), {
              url: ({ url }) => url,
              state: ({ enabled }) => (enabled ? 0 : 1),
            })}
            chosen={chosen}
            mayChange={mayChange}
            test={testWebhookAction}
            set={setWebhookAction}
            remove={deleteWebhookAction}
          />
        ) : (
          <p className="rounded-lg border bg-surface px-4 py-3 text-muted">No webhooks yet.</p>
        )}
        {deliveries && chosen !== null ? (
          deliveries.data.length === 0 ? (
            <p className="text-muted">
              No deliveries in the last 30 days. Send a test event to check the webhook.
            </p>
          ) : (
            <>
              <header className="flex flex-wrap items-center justify-between gap-3">
                <h3 className="font-medium">Deliveries</h3>
                <ListColumnsButton table="deliveries" remembered={columns} remember={chooseColumnsAction} />
              </header>
              <DeliveryTable
                columns={shownColumns('deliveries', columns)}
                workspace={slug}
                webhook={chosen}
                rows={deliveries.data.map((row) => deliveryRowOf(row, { timeZone, nowMs }))}
                mayChange={mayChange}
                redeliver={redeliverAction}
              />
              {deliveriesAfter || deliveries.next ? (
                <PagesNav
                  label="Pages of deliveries"
                  words={{ first: 'First', next: 'More' }}
                  first={deliveriesAfter ? listUrl(here, ofDeliveries) : null}
                  next={
                    deliveries.next
                      ? listUrl(here, { ...ofDeliveries, deliveriesAfter: deliveries.next })
                      : null
                  }
                >
                  Deliveries of the last 30 days.
                </PagesNav>
              ) : null}
            </>
          )
        ) : null}
      </section>
    </>
  );
}
