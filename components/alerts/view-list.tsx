'use client';

import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm } from '#components/form/operation-form';
import { useChange } from '#components/form/use-change';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';

/** A saved view with what is sent about it. */
interface AlertedView {
  readonly id: string;
  readonly name: string;
  /** Path of its page. */
  readonly href: string;
  readonly shared: boolean;
  /** Whether the user gets its weekly email. */
  readonly weekly: boolean;
  /** When it raises an alert; null: never. */
  readonly alert: { readonly over: number; readonly window: 'hour' | 'day'; readonly text: string } | null;
}

type Change = (workspace: string, input: unknown) => Promise<FormAnswer<unknown>>;

interface ViewListProps {
  /** Slug. */
  workspace: string;
  views: readonly AlertedView[];
  /** The form of an alert. */
  fields: readonly FormField[];
  /** Whether the user may set alerts. */
  mayAlert: boolean;
  /** Whether the user may change anything here. */
  mayChange: boolean;
  actions: {
    readonly subscribe: Change;
    readonly unsubscribe: Change;
    readonly alert: Change;
    readonly endAlert: Change;
  };
}

/** The saved views of a workspace: which of them come by email every week, and which raise alerts. */
export function ViewList({ workspace, views, fields, mayAlert, mayChange, actions }: ViewListProps) {
  const router = useRouter();
  const { pending, make } = useChange();
  const [open, setOpen] = useState(false);
  // The view of the dialog, which stays while it fades out.
  const [view, setView] = useState<AlertedView | null>(null);
  const close = () => setOpen(false);
  return (
    <>
      <ul className="divide-y">
        {views.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
            <span className="grid min-w-0 flex-1 basis-56 gap-0.5">
              <Link
                href={one.href}
                prefetch={false}
                className="font-medium [overflow-wrap:anywhere] hover:underline"
                dir="auto"
              >
                {one.name}
              </Link>
              <span className="flex flex-wrap items-center gap-2 text-muted text-xs leading-5">
                {one.shared ? <Badge tone="outline">Shared</Badge> : 'Only you see it'}
                {one.alert ? <span>{one.alert.text}</span> : null}
              </span>
            </span>
            {mayChange ? (
              <span className="flex flex-wrap gap-1.5">
                <Button
                  size="small"
                  disabled={pending}
                  aria-label={`${one.weekly ? 'Stop weekly email' : 'Email weekly'}: ${one.name}`}
                  onClick={() =>
                    make(
                      (one.weekly ? actions.unsubscribe : actions.subscribe)(workspace, { id: one.id }),
                      one.weekly ? 'The weekly email is stopped' : 'You get an email every Monday',
                    )
                  }
                >
                  {one.weekly ? 'Stop weekly email' : 'Email weekly'}
                </Button>
                {mayAlert && one.shared ? (
                  <Button
                    size="small"
                    disabled={pending}
                    aria-label={`${one.alert ? 'Change alert' : 'Set alert'}: ${one.name}`}
                    onClick={() => {
                      setView(one);
                      setOpen(true);
                    }}
                  >
                    {one.alert ? 'Change alert' : 'Set alert'}
                  </Button>
                ) : null}
                {mayAlert && one.alert ? (
                  <Button
                    size="small"
                    tone="quiet"
                    disabled={pending}
                    aria-label={`End alert: ${one.name}`}
                    onClick={() => make(actions.endAlert(workspace, { id: one.id }), 'The alert is ended')}
                  >
                    End alert
                  </Button>
                ) : null}
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Alert on “${view?.name ?? ''}”`}
        description="Owners and admins get an email, and your webhooks an event, when the view has more calls than this."
      >
        <OperationForm
          key={view?.id}
          fields={fields}
          models={[]}
          initial={{ over: String(view?.alert?.over ?? 100), window: view?.alert?.window ?? 'hour' }}
          send={(values) =>
            actions.alert(workspace, {
              id: view?.id ?? '',
              over: view?.alert?.over ?? 100,
              window: view?.alert?.window ?? 'hour',
              ...values,
            })
          }
          verb={{ idle: 'Save alert', pending: 'Saving…' }}
          onCancel={close}
          onDone={() => {
            toast.success('Alert saved');
            close();
            router.refresh();
          }}
        />
      </Dialog>
    </>
  );
}
