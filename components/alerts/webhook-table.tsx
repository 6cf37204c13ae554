'use client';

import Link from 'next/link';
import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { useChange } from '#components/form/use-change';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, Row, Table } from '#components/ui/table';

interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly enabled: boolean;
}

type Change<Input> = (workspace: string, input: Input) => Promise<FormAnswer<unknown>>;

interface WebhookTableProps {
  workspace: string;
  webhooks: readonly Webhook[];
  /** The webhook whose deliveries are shown. */
  chosen: string | null;
  mayChange: boolean;
  test: Change<{ id: string }>;
  set: Change<{ id: string; enabled: boolean }>;
  remove: Change<{ id: string }>;
}

/** The webhooks that alerts are sent to. */
export function WebhookTable(props: WebhookTableProps) {
  const { workspace, webhooks, chosen, mayChange, test, set, remove } = props;
  const [asked, ask] = useState<Webhook | null>(null);
  const { pending, make } = useChange();

  return (
    <>
      <Table label="Webhooks">
        <thead>
          <tr>
            <SortHead parameter="hooks" by="url">
              URL
            </SortHead>
            <SortHead parameter="hooks" by="state">
              State
            </SortHead>
            <ActionsHeadCell />
          </tr>
        </thead>
        <tbody>
          {webhooks.map((hook) => (
            <Row key={hook.id}>
              <Cell place="title" className="min-w-52 [overflow-wrap:anywhere]">
                <code className="font-mono text-[0.8125rem]">{hook.url}</code>
              </Cell>
              <Cell place="figure">
                <Badge tone={hook.enabled ? 'good' : 'neutral'} dot>
                  {hook.enabled ? 'On' : 'Off'}
                </Badge>
              </Cell>
              <Cell className="w-px">
                <span className="flex flex-wrap items-center gap-1.5 sm:justify-end">
                  <Link
                    href={`/${workspace}/alerts?webhook=${hook.id}`}
                    aria-current={chosen === hook.id ? 'true' : undefined}
                    className="whitespace-nowrap px-2 text-muted underline underline-offset-2 hover:text-ink"
                  >
                    Deliveries
                  </Link>
                  {mayChange ? (
                    <>
                      <Button
                        size="small"
                        disabled={pending}
                        onClick={() => make(test(workspace, { id: hook.id }), 'Test event sent')}
                      >
                        Send test
                      </Button>
                      <Button
                        size="small"
                        disabled={pending}
                        onClick={() =>
                          make(
                            set(workspace, { id: hook.id, enabled: !hook.enabled }),
                            hook.enabled ? 'Webhook turned off' : 'Webhook turned on',
                          )
                        }
                      >
                        {hook.enabled ? 'Turn off' : 'Turn on'}
                      </Button>
                      <Button size="small" tone="quiet" onClick={() => ask(hook)}>
                        Delete
                      </Button>
                    </>
                  ) : null}
                </span>
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => (open ? undefined : ask(null))}
        title="Delete this webhook?"
        description={
          <>
            Nothing is sent to <code className="font-mono [overflow-wrap:anywhere]">{asked?.url}</code> any
            more, and its delivery log is deleted.
          </>
        }
        verb={{ idle: 'Delete webhook', pending: 'Deleting…' }}
        act={() => remove(workspace, { id: asked?.id ?? '' })}
        done="Webhook deleted"
      />
    </>
  );
}
