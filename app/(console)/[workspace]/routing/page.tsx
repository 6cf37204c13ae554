import type { Metadata } from 'next';
import { createLoader, parseAsString, type SearchParams } from 'nuqs/server';
import { PageHead } from '#components/page-head';
import { LoadedOfferHealth } from '#components/routing/loaded-offer-health';
import { PolicyEditor } from '#components/routing/policy-editor';
import { PolicyTabs } from '#components/routing/policy-tabs';
import { VersionList } from '#components/routing/version-list';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showAgo, showMoment } from '#lib/console/show/time';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { openPolicy } from '#lib/control/operations/policy/drafts';
import { listPolicyNames } from '#lib/control/operations/policy/names';
import { showPolicyList } from '#lib/control/operations/policy/operations';
import { listVersions } from '#lib/control/operations/policy/versions';
import { showHealth } from '#lib/control/operations/route/health';
import {
  discardDraftAction,
  explainRouteAction,
  openPolicyAction,
  publishPolicyAction,
  reviewPolicyAction,
  rollBackPolicyAction,
  saveDraftAction,
  showHealthAction,
} from './actions';

export const metadata: Metadata = { title: 'Routing' };

const loadAddress = createLoader({ model: parseAsString });

interface RoutingPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function RoutingPage({ params, searchParams }: RoutingPageProps) {
  const member = await requireMember((await params).workspace, 'policies:read');
  const { slug, timeZone } = member.workspace;
  const { model: asked } = await loadAddress(searchParams);
  const model = asked === null || asked === 'default' || asked.length > 200 ? null : asked;
  const place = model ?? 'default';
  const [opened, policies, history, names, health, { example }] = await Promise.all([
    readForPage(openPolicy, slug, { model: place }),
    readForPage(showPolicyList, slug, {}),
    readForPage(listVersions, slug, { model: place }),
    readForPage(listPolicyNames, slug, {}),
    readForPage(showHealth, slug, {}),
    readForPage(listModelNames, slug, {}),
  ]);
  const nowMs = Date.now();
  const locked = lockOf(member, 'policies:write', 'change it');
  return (
    <>
      <PageHead help="routing" title="Routing">
        Which providers a call tries, and in which order. Each setting of a model’s policy overrides the
        default.
      </PageHead>
      <PolicyTabs
        workspace={slug}
        models={Object.keys(policies.models)}
        current={model}
        names={names.models}
        locked={locked !== null}
      />
      <PolicyEditor
        key={place}
        workspace={slug}
        model={model}
        opened={opened}
        inherited={model === null ? null : policies.default}
        names={names}
        example={model ?? example ?? names.models[0] ?? ''}
        locked={locked}
        actions={{
          open: openPolicyAction,
          review: reviewPolicyAction,
          save: saveDraftAction,
          discard: discardDraftAction,
          publish: publishPolicyAction,
          rollBack: rollBackPolicyAction,
          explain: explainRouteAction,
          health: showHealthAction,
        }}
      />
      {history.data.length > 0 ? (
        <section aria-labelledby="versions" className="grid min-w-0 gap-2.5">
          <h2 id="versions" className="font-semibold text-sm">
            Versions
          </h2>
          <VersionList
            workspace={slug}
            place={place}
            current={opened.version}
            rollBack={rollBackPolicyAction}
            locked={locked !== null}
            versions={history.data.map(({ version, by, at, changes }) => ({
              version,
              by: by ?? 'a program',
              ago: showAgo(Date.parse(at), nowMs),
              at: showMoment(Date.parse(at), timeZone),
              changes,
            }))}
          />
          {history.next === null ? null : (
            <p className="text-muted text-xs">
              Older versions: <code className="font-mono">gateway policy history {slug}</code>
            </p>
          )}
        </section>
      ) : null}
      <section aria-labelledby="health" className="grid min-w-0 gap-2.5">
        <h2 id="health" className="font-semibold text-sm">
          Health of offers
        </h2>
        <p className="max-w-2xl text-muted leading-5">
          After five failures in a row, an offer is set aside for 10 seconds, then for longer; meanwhile,
          calls try it last. Figures are smoothed averages over the calls of this gateway’s machine, updated
          every 5 seconds.
        </p>
        <LoadedOfferHealth workspace={slug} first={health} health={showHealthAction} />
      </section>
    </>
  );
}
