import Link from 'next/link';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { SureButton } from '#components/fleet/sure-button';
import type { FormAnswer } from '#components/form/answer';
import { Badge } from '#components/ui/badge';
import type { ColumnOf } from '#lib/console/columns';
import { showFamily } from '#lib/console/models/family-names';
import { modelHref } from '#lib/console/models/rows';
import { showTokens } from '#lib/console/show/tokens';
import type { ShownProviderPage } from '#lib/control/operations/provider/show';

type Act = (workspace: string, input: Readonly<Record<string, unknown>>) => Promise<FormAnswer<unknown>>;

interface ModelListProps {
  provider: string;
  models: readonly ShownProviderPage['models'][number][];
  /** The columns after the model. */
  columns: readonly ColumnOf<'providerModels'>[];
  withdraw: Act;
  offer: Act;
}

type ModelRow = ShownProviderPage['models'][number] & { readonly id: string };

const looks: ListColumns<ModelRow, 'providerModels'> = {
  fixed: {
    sort: { by: 'model', usual: 'ascending' },
    place: 'title',
    className: 'min-w-48',
    show: ({ model, name }) => (
      <>
        <Link
          href={modelHref('/operator/models', model)}
          prefetch={false}
          className="rounded-md font-mono text-[0.8125rem] [overflow-wrap:anywhere] hover:underline"
        >
          {model}
        </Link>
        {name === model ? null : (
          <span className="block text-muted text-xs leading-4 [overflow-wrap:anywhere]">{name}</span>
        )}
      </>
    ),
  },
  upstream: {
    sort: { by: 'upstream' },
    className: 'min-w-32 font-mono text-xs [overflow-wrap:anywhere]',
    show: ({ upstreamModel }) => upstreamModel,
  },
  context: {
    ...figureColumn,
    sort: { by: 'context', descendingFirst: true },
    show: ({ contextTokens }) =>
      contextTokens > 0 ? showTokens(contextTokens) : <span className="text-muted">Unknown</span>,
  },
  price: {
    className: 'min-w-28 [overflow-wrap:anywhere]',
    show: ({ price }) => (price === '$0 in, $0 out' ? 'Free' : (price ?? 'None')),
  },
  protocols: { className: 'min-w-52', show: ({ families }) => families.map(showFamily).join(', ') },
  state: {
    sort: { by: 'state' },
    place: 'state',
    show: ({ withdrawn, why }) =>
      withdrawn ? (
        <Badge tone="outline">Withdrawn</Badge>
      ) : why ? (
        <span className="grid gap-1">
          <Badge tone="warn" className="w-fit">
            Gets no calls
          </Badge>
          <span className="text-muted text-xs leading-4">{why}</span>
        </span>
      ) : (
        <Badge tone="good" dot>
          Offered
        </Badge>
      ),
  },
};

/** The models that a provider offers or offered, with their prices. */
export function ModelList({ provider, models, columns, withdraw, offer }: ModelListProps) {
  return (
    <ListTable
      label="Models"
      table="providerModels"
      looks={looks}
      columns={columns}
      rows={models.map((one) => ({ ...one, id: one.model }))}
      framed={false}
      actions={{
        place: 'menu',
        className: 'text-right',
        show: ({ model, upstreamModel, withdrawn }) =>
          withdrawn ? (
            <SureButton
              label="Offer again"
              affects={model}
              question={null}
              input={{ provider, models: [{ upstreamModel, slug: model }] }}
              done={`${model} is offered again`}
              act={offer}
            />
          ) : (
            <SureButton
              label="Withdraw"
              affects={model}
              question={`Withdraw ${model}?`}
              input={{ provider, models: [model] }}
              done={`${model} withdrawn`}
              act={withdraw}
            />
          ),
      }}
    />
  );
}
