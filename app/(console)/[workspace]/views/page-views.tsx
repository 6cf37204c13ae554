import { ViewMenu } from '#components/views/view-menu';
import { formOf } from '#lib/console/form';
import { lockOf } from '#lib/console/lock';
import type { Membership } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { listViews } from '#lib/control/operations/view/operations';
import { mostViews, type ViewPage, viewFields, viewParameters } from '#lib/control/operations/view/settings';
import { createViewAction, deleteViewAction, renameViewAction } from './actions';

const actions = { create: createViewAction, rename: renameViewAction, remove: deleteViewAction };
const { name, shared } = viewFields;

/** The saved views of a page. It must be inside of the page's chosen columns, which a view includes. */
export async function PageViews({ member, page }: { member: Membership; page: ViewPage }) {
  const { slug } = member.workspace;
  const { data } = await readForPage(listViews, slug, { page, limit: mostViews });
  return (
    <ViewMenu
      workspace={slug}
      page={page}
      parameters={viewParameters[page]}
      views={data.map(({ id, name, query, shared, own, editable, author }) => ({
        ...{ id, name, query, shared, own, editable },
        author: author?.name ?? null,
      }))}
      fields={formOf({ name, shared })}
      locked={lockOf(member, 'views:write', 'save views')}
      actions={actions}
    />
  );
}
