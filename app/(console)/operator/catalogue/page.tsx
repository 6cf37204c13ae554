import { Download } from 'lucide-react';
import type { Metadata } from 'next';
import { CatalogueFiles } from '#components/operator/catalogue-files';
import { ShippedChanges } from '#components/operator/shipped-changes';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { buttonStyle } from '#components/ui/button';
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
      <PageHead
        help="operator-catalogue"
        title="Catalogue files"
        action={
          <a
            href="/operator/catalogue/export"
            download
            title="The catalogue in force as YAML, without credentials"
            className={buttonStyle()}
          >
            <Download />
            Export
          </a>
        }
      >
        Compare catalogue files with the gateway. Files are applied completely or not at all; past calls keep
        their prices.
      </PageHead>
      <Section title="Files included with this version" note={files ? `${files.length} files` : undefined}>
        {files ? (
          <p className="px-4 pt-3 text-muted text-xs leading-5">{files.map(({ name }) => name).join(', ')}</p>
        ) : null}
        {shipped === null ? (
          <p className="px-4 py-4 text-muted">This installation does not include catalogue files.</p>
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
