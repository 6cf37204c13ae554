import Link from 'next/link';
import { SelectAllKeys, SelectKey } from '#components/keys/bulk/selection';
import { KeyMenu } from '#components/keys/key-menu';
import type { KeyRow } from '#components/keys/key-row';
import { Badge } from '#components/ui/badge';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';

export function KeyTable({ keys }: { keys: readonly KeyRow[] }) {
  return (
    <Table label="API keys">
      <thead>
        <tr>
          <SortHead by="name" before={<SelectAllKeys />}>
            Name
          </SortHead>
          <HeadCell>Status</HeadCell>
          <HeadCell>Models and limits</HeadCell>
          <SortHead by="spend" descendingFirst className="text-right">
            Spend, 30 days
          </SortHead>
          <SortHead by="lastUsed" descendingFirst>
            Last used
          </SortHead>
          <SortHead by="created" descendingFirst usual="descending">
            Created
          </SortHead>
          <ActionsHeadCell sticky />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <Row key={key.id}>
            <Cell place="title" className="min-w-40">
              <span className="flex items-start gap-3">
                <SelectKey id={key.id} name={key.name} />
                <span className="min-w-0">
                  <Link
                    href={key.href}
                    prefetch={false}
                    className="line-clamp-2 max-w-64 font-medium [overflow-wrap:anywhere] hover:underline"
                  >
                    {key.name}
                  </Link>
                  <code className="block font-mono text-muted text-xs">{key.masked}</code>
                </span>
              </span>
            </Cell>
            <Cell place="state">
              <Badge tone={key.status.tone} dot title={key.status.why}>
                {key.status.text}
              </Badge>
              {key.status.note ? (
                <span className="mt-1 block max-w-44 text-muted text-xs leading-4 [overflow-wrap:anywhere]">
                  {key.status.note}
                </span>
              ) : null}
              {key.earlier ? (
                <span
                  className="mt-1 block whitespace-nowrap text-warn text-xs"
                  title={`${key.earlier.masked} still works until ${key.earlier.until}.`}
                >
                  two secrets
                </span>
              ) : null}
              {key.expires ? (
                <span className="mt-1 block whitespace-nowrap text-muted text-xs">expires {key.expires}</span>
              ) : null}
            </Cell>
            <Cell className="min-w-44">
              <Scope models={key.models} />
              {key.cap ? <CapMeter {...key.cap} /> : null}
              {key.limits.length > 0 || !key.cap ? (
                <span className="block text-muted text-xs leading-5">
                  {key.limits.join(' · ') || 'No key limits'}
                </span>
              ) : null}
            </Cell>
            <Cell place="figure" className="text-right tabular-nums" title={`$${key.exactSpent30d}`}>
              {key.spent30d}
            </Cell>
            <Cell label="Last used" className="whitespace-nowrap">
              {key.lastUsed ? (
                <span title={key.lastUsed.exact}>
                  {key.lastUsed.text}
                  {key.lastUsed.note ? (
                    <span className="block text-muted text-xs leading-4">{key.lastUsed.note}</span>
                  ) : null}
                </span>
              ) : (
                <span className="text-muted">Never</span>
              )}
            </Cell>
            <Cell label="Created" className="whitespace-nowrap" title={key.created.exact}>
              {key.created.text}
            </Cell>
            <Cell place="menu" sticky>
              <KeyMenu row={key} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

function Scope({ models }: { models: KeyRow['models'] }) {
  if (!models) return <>All models</>;
  const [first, ...rest] = models;
  return (
    <span title={models.join('\n')}>
      {first}
      {rest.length > 0 ? <span className="text-muted"> and {rest.length} more</span> : null}
    </span>
  );
}

function CapMeter({ used, text }: { used: number; text: string }) {
  const part = Math.min(1, Math.max(0, used));
  return (
    <span className="mt-1 flex items-center gap-2">
      <svg aria-hidden className="h-1 w-20 shrink-0 rounded-full bg-hover" preserveAspectRatio="none">
        <rect
          width={`${part * 100}%`}
          height="100%"
          rx="2"
          className={part >= 1 ? 'fill-bad' : part >= 0.8 ? 'fill-warn' : 'fill-accent'}
        />
      </svg>
      <span className="whitespace-nowrap text-muted text-xs">{text}</span>
    </span>
  );
}
