import type { Metadata } from 'next';
import { CatalogueFiles } from '#components/operator/catalogue-files';
import { ShippedChanges } from '#components/operator/shipped-changes';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { readShippedCatalogue } from '#lib/console/gateway/shipped-catalogue';
import { tryForPage } from '#lib/console/operation';
import { requireOperator } from '#lib/console/operator';
import { compareCatalogueOperation } from '#lib/control/operations/catalogue/compare';
import { applyFilesAction, applyShippedAction, compareFilesAction } from './actions';

export const metadata: Metadata = { title: 'Catalogue files' };

export default async function OperatorCataloguePage() {
  await requireOperator();
  const files = await readShippedCatalogue();
  const shipped = files && (await tryForPage(compareCatalogueOperation, '', { files }));
  return (
    <>
      <PageHead title="Catalogue files">
        Where catalogue files and the gateway differ. A file is applied whole or not at all; calls that were
        made keep their prices.
      </PageHead>
      <Section title="Files of this version" note={files ? `${files.length} files` : undefined}>
        {files ? (
          <p className="px-4 pt-3 text-muted text-xs leading-5">{files.map(({ name }) => name).join(', ')}</p>
        ) : null}
        {shipped === null ? (
          <p className="px-4 py-4 text-muted">This installation has no catalogue files beside it.</p>
        ) : shipped.ok ? (
          <ShippedChanges comparison={shipped.value} apply={applyShippedAction} />
        ) : (
          <p role="status" className="px-4 py-4 text-bad leading-5">
            {shipped.message}
          </p>
        )}
      </Section>
      <CatalogueFiles compare={compareFilesAction} apply={applyFilesAction} />
    </>
  );
}
