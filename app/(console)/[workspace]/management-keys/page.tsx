import { Terminal } from 'lucide-react';
import type { Metadata } from 'next';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { CreateManagementKey } from '#components/management-keys/create-management-key';
import { ManagementKeyTable } from '#components/management-keys/management-key-table';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { getConsoleHost } from '#lib/console/db';
import { formOf } from '#lib/console/form';
import { listUrl } from '#lib/console/list-url';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showZone } from '#lib/console/show/time';
import { managementKeyRowOf } from '#lib/console/team/management-key-rows';
import { createManagementKey, listManagementKeys } from '#lib/control/operations/management-key/operations';
import { may, mayGive, roles, rolesThatMay } from '#lib/core/role';
import { chooseColumnsAction } from '../../../columns-action';
import { createManagementKeyAction, revokeManagementKeyAction } from './actions';

export const metadata: Metadata = { title: 'Management keys' };

const { name, role: roleField } = createManagementKey.fields;

interface ManagementKeysPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ManagementKeysPage({ params, searchParams }: ManagementKeysPageProps) {
  const member = await requireMember((await params).workspace, 'workspace:read');
  const { workspace, role } = member;
  const { slug, timeZone } = workspace;
  const lead = 'Scripts use these keys to manage this workspace through /api/v1. They cannot call models.';
  if (!may(role, 'management-keys:read')) {
    return (
      <>
        <PageHead help="management-keys" title="Management keys">
          {lead}
        </PageHead>
        <EmptyState icon={<Terminal />} title="Your role cannot use management keys">
          Your role is {role}. Ask an {rolesThatMay('management-keys:write')} to create one.
        </EmptyState>
      </>
    );
  }
  const query = await searchParams;
  const [after, sort, columns] = [query.after, query.sort, query.columns].map((text) => [text].flat()[0]);
  const { data, next } = await readForPage(listManagementKeys, slug, { sort, after, limit: 50 });
  const chosen = await readChosenColumns('managementKeys', query);
  const nowMs = Date.now();
  const here = `/${slug}/management-keys`;
  const choices = roles.filter((one) => mayGive(role, one));
  return (
    <>
      <PageHead
        help="management-keys"
        title="Management keys"
        action={
          <div className="flex flex-wrap gap-2">
            {data.length > 0 ? (
              <ListColumnsButton table="managementKeys" remembered={chosen} remember={chooseColumnsAction} />
            ) : null}
            <CreateManagementKey
              workspace={slug}
              api={`${getConsoleHost().env.publicUrl}/api/v1`}
              fields={formOf({ name, role: { ...roleField, choices } })}
              locked={lockOf(member, 'management-keys:write', 'create one')}
              create={createManagementKeyAction}
            />
          </div>
        }
      >
        {lead}
      </PageHead>
      {data.length === 0 ? (
        <EmptyState icon={<Terminal />} title="No management keys yet">
          Create one for a script or a tool such as Terraform. It gets its own role, no higher than yours.
        </EmptyState>
      ) : (
        <div className="grid min-w-0 gap-3">
          <ManagementKeyTable
            workspace={slug}
            columns={shownColumns('managementKeys', chosen)}
            keys={data.map((key) => managementKeyRowOf(key, { timeZone, nowMs }))}
            revoke={revokeManagementKeyAction}
          />
          <PagesNav
            label="Pages of management keys"
            first={after ? listUrl(here, { sort, columns }) : null}
            next={next ? listUrl(here, { sort, columns, after: next }) : null}
          >
            Dates in {showZone(timeZone, nowMs)}. Last use is exact to the minute. A key is revoked when its
            creator loses the role that it needs.
          </PagesNav>
        </div>
      )}
    </>
  );
}
