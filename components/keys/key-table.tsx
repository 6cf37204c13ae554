import Link from 'next/link';
import { KeyMenu } from '#components/keys/key-menu';
import type { KeyRow } from '#components/keys/key-row';
import { Badge } from '#components/ui/badge';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';

export function KeyTable({ keys }: { keys: readonly KeyRow[] }) {
  return (
    <Table label="API keys">
      <thead>
        <tr>
          <HeadCell>Name</HeadCell>
          <HeadCell>Status</HeadCell>
          <HeadCell>Models and limits</HeadCell>
          <HeadCell className="text-right">Spend, 30 days</HeadCell>
          <HeadCell>Last used</HeadCell>
          <HeadCell>Created</HeadCell>
          <ActionsHeadCell sticky />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <Row key={key.id}>
            <Cell className="min-w-40">
              <Link
                href={key.href}
                prefetch={false}
                className="line-clamp-2 max-w-64 font-medium [overflow-wrap:anywhere] hover:underline"
              >
                {key.name}
              </Link>
              <code className="block font-mono text-muted text-xs">{key.masked}</code>
            </Cell>
            <Cell>
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
            <Cell className="text-right tabular-nums" title={`$${key.exactSpent30d}`}>
              {key.spent30d}
            </Cell>
            <Cell className="whitespace-nowrap">
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
            <Cell className="whitespace-nowrap" title={key.created.exact}>
              {key.created.text}
            </Cell>
            <Cell className="right-0 w-12 border-line px-1.5 max-lg:sticky max-lg:bg-surface">
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
