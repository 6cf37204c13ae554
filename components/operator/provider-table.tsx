import { Badge } from '#components/ui/badge';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { ShownProvider } from '#lib/control/provider/list';

/** The providers, with what keeps each of them from being called. */
export function ProviderTable({ providers }: { providers: readonly ShownProvider[] }) {
  return (
    <Table label="Providers">
      <thead>
        <tr>
          <HeadCell>Provider</HeadCell>
          <HeadCell>Credential</HeadCell>
          <HeadCell>Protocols</HeadCell>
          <HeadCell className="text-right">Offers</HeadCell>
        </tr>
      </thead>
      <tbody>
        {providers.map((provider) => (
          <Row key={provider.id}>
            <Cell className="min-w-40">
              <span className="block font-medium">{provider.name}</span>
              <code className="font-mono text-muted text-xs">{provider.id}</code>
            </Cell>
            <Cell>
              <Badge tone={provider.credential.usable ? 'good' : 'neutral'} dot>
                {provider.credential.usable ? 'Ready' : 'Missing'}
              </Badge>
            </Cell>
            <Cell>{provider.families.map(({ family }) => family).join(', ')}</Cell>
            <Cell className="text-right tabular-nums">{provider.offers}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
