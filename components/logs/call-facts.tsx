import Link from 'next/link';
import type { ReactNode } from 'react';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { CopyButton } from '#components/ui/copy-button';

interface CallFactsProps {
  call: {
    readonly key: string;
    readonly keyName: string | null;
    /** "Chat completions". */
    readonly protocol: string;
    readonly operation: string;
    readonly streamed: boolean;
    readonly endReason: string;
    readonly clientRequestId: string | null;
    readonly userAgent: string | null;
    /** "in effect since 28 Nov 2026, 00:59", and its id. */
    readonly price: { readonly text: string; readonly version: string } | null;
    readonly flags: readonly string[];
  };
  /** URL of the key's page; null: it has none. */
  keyHref: string | null;
}

function Id({ value, what }: { value: string; what: string }) {
  return (
    <span className="flex min-w-0 items-center gap-1">
      <code className="min-w-0 break-all font-mono text-xs">{value}</code>
      <CopyButton value={value} what={what} />
    </span>
  );
}

/** The details of a call other than its figures. */
export function CallFacts({ call, keyHref }: CallFactsProps) {
  const facts: { name: string; value: ReactNode }[] = [
    {
      name: 'Key',
      value:
        keyHref === null ? (
          (call.keyName ?? call.key)
        ) : (
          <Link href={keyHref} className="font-medium underline decoration-line-strong underline-offset-2">
            {call.keyName ?? call.key}
          </Link>
        ),
    },
    { name: 'Protocol', value: <span title={call.operation}>{call.protocol}</span> },
    { name: 'Response', value: call.streamed ? 'streamed' : 'not streamed' },
    { name: 'Ended', value: call.endReason.replaceAll('_', ' ') },
    ...(call.clientRequestId
      ? [{ name: 'Client request id', value: <Id value={call.clientRequestId} what="client request id" /> }]
      : []),
    ...(call.userAgent ? [{ name: 'User agent', value: call.userAgent }] : []),
    ...(call.price
      ? [
          {
            name: 'Price',
            value: <span title={`Price version ${call.price.version}`}>{call.price.text}</span>,
          },
        ]
      : []),
    ...(call.flags.length > 0
      ? [
          {
            name: 'Flags',
            value: call.flags.map((flag) => (
              <Badge
                key={flag}
                tone={['own_key', 'repeat', 'cache_hit'].includes(flag) ? 'outline' : 'warn'}
                className="mr-1 max-w-full whitespace-normal"
              >
                <span className="min-w-0 [overflow-wrap:anywhere]">{flag}</span>
              </Badge>
            )),
          },
        ]
      : []),
  ];
  return (
    <Section title="Request">
      <dl className="grid gap-x-8 px-4 py-2 sm:grid-cols-2">
        {facts.map((fact) => (
          <div key={fact.name} className="grid grid-cols-[7.5rem_minmax(0,1fr)] items-baseline gap-3 py-1.5">
            <dt className="text-muted">{fact.name}</dt>
            <dd className="min-w-0 break-words">{fact.value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
