import { Boxes } from 'lucide-react';
import type { Metadata } from 'next';
import { Catalogue } from '#components/models/catalogue';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { requireMember } from '#lib/console/member';
import { modelChoices } from '#lib/console/models/choices';
import { mostCompared, readModels, scopeOfKey, viewCatalogue } from '#lib/console/models/list';
import { readForPage } from '#lib/console/operation';
import { keyStatusOf } from '#lib/console/show/key/status';
import { listKeyNames, showKey } from '#lib/control/operations/key/operations';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Models' };

/** Number of keys that the filter offers. */
const mostKeys = 200;
const olderKeys = 'Only the newest keys are listed.';

interface ModelsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ModelsPage({ params, searchParams }: ModelsPageProps) {
  const { workspace } = await requireMember((await params).workspace, 'keys:read');
  const query = await searchParams;
  const chosen = [query.key].flat()[0];
  const [models, { data: keys }, key] = await Promise.all([
    readModels(),
    readForPage(listKeyNames, workspace.slug, { limit: mostKeys, chosen }),
    chosen ? readForPage(showKey, workspace.slug, { id: chosen }) : null,
  ]);
  const list = `/${workspace.slug}/models`;
  const scope = key && scopeOfKey(models, key.models);
  const { timeZone } = workspace;
  const status = key && keyStatusOf(key, { timeZone, nowMs: Date.now() });
  return (
    <>
      <PageHead help="models" title="Models">
        The models on this gateway and what they cost. Calls refer to a model by its slug.
      </PageHead>
      {key && status && (status.tone === 'bad' || status.tone === 'neutral') ? (
        <p role="status" className="rounded-lg bg-warn-soft px-4 py-2.5 text-warn leading-5">
          Key “{key.name}”: {status.why}
        </p>
      ) : null}
      <Catalogue
        list={list}
        view={viewCatalogue(models, query, { list, scope })}
        choices={[
          {
            name: 'key',
            label: 'Key',
            any: 'Any key',
            options: keys.map(({ id, name }) => ({ value: id, label: `Allowed for ${name}` })),
            ...(keys.length < mostKeys ? {} : { note: olderKeys }),
          },
          ...modelChoices(models),
        ]}
        mostCompared={mostCompared}
        total={models.length}
        columns={await readChosenColumns('models', query)}
        remember={chooseColumnsAction}
        empty={
          <EmptyState icon={<Boxes />} title="No models yet">
            Your gateway administrator fills the catalogue with <code>gateway catalogue apply catalogue</code>
            .
          </EmptyState>
        }
      />
    </>
  );
}
