import { ChevronLeft } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { AddForm } from '#components/operator/provider/add-form';
import { PresetCards } from '#components/operator/provider/preset-cards';
import { PageHead } from '#components/page-head';
import { readForOperator } from '#lib/console/operator';
import { listPresets } from '#lib/control/operations/provider/presets';
import { addProviderAction } from '../actions';

export const metadata: Metadata = { title: 'Add a provider' };

interface AddProviderPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function AddProviderPage({ searchParams }: AddProviderPageProps) {
  const { preset: wanted } = await searchParams;
  const { data } = await readForOperator(listPresets);
  const preset = data.find(({ id }) => id === wanted);
  return (
    <>
      <div className="grid gap-2">
        <Link
          href={preset ? '/operator/providers/add' : '/operator/providers'}
          prefetch={false}
          className="flex w-fit items-center gap-1 rounded-md text-muted hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-4" />
          {preset ? 'All presets' : 'Providers'}
        </Link>
        <PageHead help="operator-providers" title={preset ? `Add ${preset.name}` : 'Add a provider'}>
          {preset
            ? 'The provider gets no calls before you have chosen its models, which is the next step.'
            : 'Choose what to add. To use a second account of a provider that is added already, give the provider another credential.'}
        </PageHead>
      </div>
      {preset ? <AddForm preset={preset} add={addProviderAction} /> : <PresetCards presets={data} />}
    </>
  );
}
