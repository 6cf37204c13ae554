import { ChevronLeft } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { PriceHistory } from '#components/operator/price-history';
import { PricePreview } from '#components/operator/price-preview';
import { priceVersionRowOf } from '#lib/console/gateway/price-version';
import { idOfParts } from '#lib/console/models/page';
import { readForOperator } from '#lib/console/operator';
import { filePriceOf } from '#lib/control/catalogue/file-price';
import { listPrices } from '#lib/control/operations/price/operations';
import { previewPriceAction, setPriceAction, withdrawPriceAction } from './actions';

interface OperatorModelPageProps {
  params: Promise<{ slug: string[] }>;
}

export async function generateMetadata({ params }: OperatorModelPageProps): Promise<Metadata> {
  return { title: `Prices of ${idOfParts((await params).slug)}` };
}

export default async function OperatorModelPage({ params }: OperatorModelPageProps) {
  const model = idOfParts((await params).slug);
  const { data } = await readForOperator(listPrices, { model });
  const providers = [...new Set(data.map(({ provider }) => provider))];
  const now = data.filter(({ state, withdrawn }) => state === 'in force' && !withdrawn);
  return (
    <>
      <header className="grid gap-1.5">
        <Link
          href="/operator/models"
          className="flex w-fit items-center gap-1 rounded-md text-muted hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-4" />
          Models and prices
        </Link>
        <h1 className="font-mono font-semibold text-lg tracking-tight [overflow-wrap:anywhere]">{model}</h1>
        <p className="max-w-2xl text-muted leading-5">
          A call keeps the price at which it was admitted. See what another price would have charged last
          week, then set it, immediately or from a later date. Applying a catalogue file with a different
          price replaces the one set here.
        </p>
      </header>
      {providers.map((provider) => (
        <PriceHistory
          key={provider}
          provider={provider}
          versions={data.filter((one) => one.provider === provider).map(priceVersionRowOf)}
          withdraw={withdrawPriceAction}
        />
      ))}
      {now.length > 0 ? (
        <PricePreview
          model={model}
          offers={now.map(({ id, provider, bands }) => ({
            provider,
            version: id,
            price: filePriceOf(bands),
          }))}
          preview={previewPriceAction}
          set={setPriceAction}
        />
      ) : null}
    </>
  );
}
