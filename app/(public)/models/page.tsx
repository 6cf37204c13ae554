import { Boxes } from 'lucide-react';
import type { Metadata } from 'next';
import { Catalogue } from '#components/models/catalogue';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { modelChoices } from '#lib/console/models/choices';
import { mostCompared, readModels, viewCatalogue } from '#lib/console/models/list';

export const metadata: Metadata = {
  title: 'Models',
  description: 'Every model on this gateway, with its providers and prices.',
};

interface ModelsPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ModelsPage({ searchParams }: ModelsPageProps) {
  const models = await readModels();
  return (
    <>
      <PageHead title="Models">
        The models on this gateway and what they cost. One base URL and one key for all of them.
      </PageHead>
      <Catalogue
        list="/models"
        view={viewCatalogue(models, await searchParams, { list: '/models', scope: null })}
        choices={modelChoices(models)}
        mostCompared={mostCompared}
        total={models.length}
        empty={
          <EmptyState icon={<Boxes />} title="No models yet">
            The gateway’s catalogue is empty.
          </EmptyState>
        }
      />
    </>
  );
}
