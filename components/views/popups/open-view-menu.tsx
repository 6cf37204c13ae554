'use client';

import { BookmarkPlus, Check, Settings2, Users } from 'lucide-react';
import Link from 'next/link';
import { useRouter, useSearchParams } from 'next/navigation';
import { useRef, useState } from 'react';
import { useColumns } from '#components/columns/chosen-columns';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { OperationForm } from '#components/form/operation-form';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';
import { Menu, MenuItem, MenuSeparator } from '#components/ui/menu';
import { toast } from '#components/ui/toaster';
import { ViewButton } from '#components/views/popups/view-button';
import type { SavedView, ViewMenuProps } from '#components/views/view-props';
import { writeColumns } from '#lib/console/columns';
import { sameQuery, viewQuery } from '#lib/console/view-query';

type Asked = 'save' | 'manage' | 'rename' | 'delete';

/** The saved views of a page; open when it first appears. */
export function OpenViewMenu({ workspace, page, parameters, views, fields, locked, actions }: ViewMenuProps) {
  const router = useRouter();
  const { table, chosen } = useColumns();
  const [asked, ask] = useState<Asked | null>(null);
  // What is renamed or deleted; it stays while its dialog fades out.
  const [view, setView] = useState<SavedView | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const columns = chosen === null ? null : writeColumns(table, chosen);
  const query = viewQuery(parameters, new URLSearchParams(useSearchParams()), columns);
  const here = `/${workspace}/${page}`;
  const close = () => ask(null);
  const onOpenChange = (open: boolean) => (open ? undefined : close());

  function askAbout(what: Asked, one: SavedView) {
    setView(one);
    ask(what);
  }

  function done(text: string) {
    toast.success(text);
    close();
    router.refresh();
  }

  return (
    <>
      <Menu className="w-72" startOpen trigger={<ViewButton ref={button} />}>
        {views.length === 0 ? (
          <p className="px-2 py-1.5 text-muted text-xs leading-4">
            No saved views yet. Set filters, sort and columns, then save them under a name.
          </p>
        ) : null}
        {views.map((one) => (
          <MenuItem
            key={one.id}
            link={
              <Link
                href={one.query === '' ? here : `${here}?${one.query}`}
                prefetch={false}
                aria-current={sameQuery(one.query, query) ? 'true' : undefined}
              />
            }
          >
            <span
              className="min-w-0 flex-1 truncate max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere]"
              dir="auto"
              title={one.name}
            >
              {one.name}
            </span>
            {sameQuery(one.query, query) ? <Check aria-hidden /> : null}
            {one.shared ? <Users aria-label="shared" /> : null}
          </MenuItem>
        ))}
        <MenuSeparator />
        {locked ? <p className="px-2 py-1.5 text-muted text-xs leading-4">{locked}</p> : null}
        <MenuItem disabled={locked !== null} onSelect={() => ask('save')}>
          <BookmarkPlus />
          Save this view…
        </MenuItem>
        {views.length > 0 ? (
          <MenuItem onSelect={() => ask('manage')}>
            <Settings2 />
            Manage views…
          </MenuItem>
        ) : null}
      </Menu>
      <Dialog
        open={asked === 'save'}
        onOpenChange={onOpenChange}
        title="Save this view"
        description="Keeps the current filters, sort and columns under a name. Relative ranges stay relative."
      >
        <OperationForm
          fields={fields}
          models={[]}
          send={(values) => actions.create(workspace, { ...values, page, query })}
          verb={{ idle: 'Save view', pending: 'Saving…' }}
          onCancel={close}
          onDone={(_, { name }) => done(`View “${String(name)}” saved`)}
        />
      </Dialog>
      <Dialog
        open={asked === 'manage'}
        onOpenChange={onOpenChange}
        finalFocus={asked === 'rename' || asked === 'delete' ? false : button}
        title="Saved views"
        description="Your own views, and those that are shared in this workspace."
      >
        <DialogBody className="px-0 sm:px-0">
          <ul className="max-h-[50dvh] divide-y overflow-y-auto border-y">
            {views.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5 sm:px-6">
                <span className="min-w-0 flex-1 basis-40">
                  <span className="block font-medium [overflow-wrap:anywhere]" dir="auto">
                    {one.name}
                  </span>
                  <span className="flex flex-wrap items-center gap-2 text-muted text-xs">
                    {one.shared ? <Badge tone="outline">Shared</Badge> : null}
                    {one.own ? 'Yours' : `By ${one.author ?? 'an operator'}`}
                  </span>
                </span>
                {one.editable ? (
                  <span className="flex gap-1.5">
                    <Button
                      size="small"
                      aria-label={`Rename ${one.name}`}
                      onClick={() => askAbout('rename', one)}
                    >
                      Rename
                    </Button>
                    <Button
                      size="small"
                      aria-label={`Delete ${one.name}`}
                      onClick={() => askAbout('delete', one)}
                    >
                      Delete
                    </Button>
                  </span>
                ) : null}
              </li>
            ))}
          </ul>
        </DialogBody>
        <DialogFooter>
          <Link
            href={`/${workspace}/alerts#saved-views`}
            prefetch={false}
            className="mr-auto self-center text-muted underline underline-offset-2 hover:text-ink"
          >
            Weekly emails and alerts
          </Link>
          <Button onClick={close}>Close</Button>
        </DialogFooter>
      </Dialog>
      <Dialog
        open={asked === 'rename'}
        onOpenChange={onOpenChange}
        finalFocus={button}
        title="Rename the view"
      >
        <OperationForm
          key={view?.id}
          fields={fields.filter(({ name }) => name === 'name')}
          models={[]}
          initial={{ name: view?.name ?? '' }}
          send={(values) =>
            actions.rename(workspace, { id: view?.id ?? '', name: view?.name ?? '', ...values })
          }
          verb={{ idle: 'Rename', pending: 'Renaming…' }}
          onCancel={close}
          onDone={(_, { name }) => done(`The view is now called “${String(name)}”`)}
        />
      </Dialog>
      <ConfirmDialog
        open={asked === 'delete'}
        onOpenChange={onOpenChange}
        finalFocus={button}
        title={`Delete the view “${view?.name ?? ''}”?`}
        description={
          view?.shared
            ? 'It disappears for every member. Links to its filters keep working.'
            : 'Links to its filters keep working.'
        }
        verb={{ idle: 'Delete view', pending: 'Deleting…' }}
        act={() => actions.remove(workspace, { id: view?.id ?? '' })}
        done="View deleted"
      />
    </>
  );
}
