import { Boxes } from 'lucide-react';
import type { Metadata } from 'next';
import { Catalogue } from '#components/models/catalogue';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { modelChoices } from '#lib/console/models/choices';
import { mostCompared, readModels, viewCatalogue } from '#lib/console/models/list';
import { requireOperator } from '#lib/console/operator';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Models and prices' };

const list = '/operator/models';

interface OperatorModelsPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function OperatorModelsPage({ searchParams }: OperatorModelsPageProps) {
  await requireOperator();
  const [models, query] = await Promise.all([readModels(), searchParams]);
  return (
    <>
      <PageHead help="operator-models" title="Models and prices">
        Models, their providers and prices. Open a model to see past prices and try new ones.
      </PageHead>
      <Catalogue
        list={list}
        view={viewCatalogue(models, query, { list, scope: null })}
        choices={modelChoices(models)}
        mostCompared={mostCompared}
        total={models.length}
        columns={await readChosenColumns('models', query)}
        remember={chooseColumnsAction}
        empty={
          <EmptyState icon={<Boxes />} title="No models yet">
            Apply catalogue files under Catalogue, or with <code>gateway catalogue apply catalogue</code>.
          </EmptyState>
        }
      />
    </>
  );
}
