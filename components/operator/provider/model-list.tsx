import Link from 'next/link';
import { SureButton } from '#components/fleet/sure-button';
import type { FormAnswer } from '#components/form/answer';
import { Badge } from '#components/ui/badge';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import { showFamily } from '#lib/console/models/family-names';
import { modelHref } from '#lib/console/models/rows';
import { showTokens } from '#lib/console/show/tokens';
import type { ShownProviderPage } from '#lib/control/operations/provider/show';

type Act = (workspace: string, input: Readonly<Record<string, unknown>>) => Promise<FormAnswer<unknown>>;

interface ModelListProps {
  provider: string;
  models: ShownProviderPage['models'];
  withdraw: Act;
  offer: Act;
}

/** The models that a provider offers or offered, with their prices. */
export function ModelList({ provider, models, withdraw, offer }: ModelListProps) {
  return (
    <Table label="Models" framed={false}>
      <thead>
        <tr>
          <HeadCell>Model</HeadCell>
          <HeadCell>Name at the provider</HeadCell>
          <HeadCell className="text-right">Context</HeadCell>
          <HeadCell>Price, $ per million tokens</HeadCell>
          <HeadCell>Protocols</HeadCell>
          <HeadCell>State</HeadCell>
          <ActionsHeadCell />
        </tr>
      </thead>
      <tbody>
        {models.map(({ model, name, upstreamModel, contextTokens, price, families, withdrawn, why }) => (
          <Row key={model}>
            <Cell place="title" className="min-w-48">
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
            </Cell>
            <Cell label="At the provider" className="min-w-32 font-mono text-xs [overflow-wrap:anywhere]">
              {upstreamModel}
            </Cell>
            <Cell label="Context" className="text-right">
              {contextTokens > 0 ? showTokens(contextTokens) : <span className="text-muted">Unknown</span>}
            </Cell>
            <Cell label="Price" className="min-w-28">
              {price === '0 in, 0 out' ? 'Free' : (price ?? 'None')}
            </Cell>
            <Cell label="Protocols" className="min-w-40">
              {families.map(showFamily).join(', ')}
            </Cell>
            <Cell place="state">
              {withdrawn ? (
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
              )}
            </Cell>
            <Cell place="menu" className="text-right">
              {withdrawn ? (
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
              )}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
