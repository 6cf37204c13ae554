import { Boxes } from 'lucide-react';
import type { Metadata } from 'next';
import { Catalogue } from '#components/models/catalogue';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { modelChoices } from '#lib/console/models/choices';
import { mostCompared, readModels, viewCatalogue } from '#lib/console/models/list';
import { chooseColumnsAction } from '../../columns-action';

export const metadata: Metadata = {
  title: 'Models',
  description: 'Every model on this gateway, with its providers and prices.',
};

interface ModelsPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ModelsPage({ searchParams }: ModelsPageProps) {
  const [models, query] = await Promise.all([readModels(), searchParams]);
  return (
    <>
      <PageHead title="Models">
        The models on this gateway and what they cost. One base URL and one key for all of them.
      </PageHead>
      <Catalogue
        list="/models"
        view={viewCatalogue(models, query, { list: '/models', scope: null })}
        choices={modelChoices(models)}
        mostCompared={mostCompared}
        total={models.length}
        columns={await readChosenColumns('models', query)}
        remember={chooseColumnsAction}
        empty={
          <EmptyState icon={<Boxes />} title="No models yet">
            The gateway’s catalogue is empty.
          </EmptyState>
        }
      />
    </>
  );
}
