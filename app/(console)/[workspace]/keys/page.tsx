import { KeyRound } from 'lucide-react';
import type { Metadata } from 'next';
import { CreateKey } from '#components/keys/create-key';
import { KeyActionsProvider } from '#components/keys/key-actions';
import { KeyTable } from '#components/keys/key-table';
import { envSnippet } from '#components/keys/snippets';
import { PageHead } from '#components/page-head';
import { CodeBlock } from '#components/ui/code-block';
import { EmptyState } from '#components/ui/empty-state';
import { getConsoleHost } from '#lib/console/db';
import { requireMember } from '#lib/console/member';
import { findExampleModel, listModelNames } from '#lib/console/model-names';
import { may, rolesThatMay } from '#lib/console/role';
import { keyRowOf } from '#lib/console/show/key-rows';
import { showZone } from '#lib/console/show/time';
import { listKeys } from '#lib/queries/keys';
import { createKeyAction, disableKeyAction, enableKeyAction, revokeKeyAction } from './actions';

export const metadata: Metadata = { title: 'API keys' };

export default async function KeysPage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace, role } = await requireMember((await params).workspace, 'keys:read');
  const { db, env } = getConsoleHost();
  const [keys, models, exampleModel] = await Promise.all([
    listKeys(db, workspace.id),
    listModelNames(db),
    findExampleModel(db),
  ]);
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  const locked = may(role, 'keys:write')
    ? null
    : `Your role is ${role}. Ask an ${rolesThatMay('keys:write')} to change keys.`;
  const facts = { baseUrl: env.publicUrl, model: exampleModel ?? models[0] ?? 'vendor/model' };
  const create = <CreateKey workspace={workspace.slug} models={models} facts={facts} locked={locked} />;
  return (
    <KeyActionsProvider
      actions={{
        create: createKeyAction,
        enable: enableKeyAction,
        disable: disableKeyAction,
        revoke: revokeKeyAction,
      }}
    >
      <PageHead title="API keys" action={keys.length > 0 ? create : null}>
        Your servers call the gateway with these. A change is in force on this machine at once, on every other
        one within 2 seconds.
      </PageHead>
      {keys.length > 0 ? (
        <div className="grid min-w-0 gap-3">
          <KeyTable
            keys={
              // Revoked keys stay for their history, below those that matter.
              [...keys]
                .sort((one, other) => Number(one.status === 'revoked') - Number(other.status === 'revoked'))
                .map((key) => keyRowOf(key, place))
            }
            workspace={workspace.slug}
            locked={locked}
          />
          <p className="text-muted text-xs">
            Days and dates in {showZone(workspace.timeZone, nowMs)}. The call that crosses a cap completes;
            the next one is refused with 402.
          </p>
        </div>
      ) : (
        <EmptyState
          icon={<KeyRound />}
          title="No keys yet"
          action={
            <>
              {create}
              <div className="mt-3 w-full max-w-md">
                <CodeBlock code={envSnippet('your key', facts)} what=".env lines" />
              </div>
            </>
          }
        >
          Create a key, put it beside the base address into the environment of your server, and keep the SDK
          that you already use.
        </EmptyState>
      )}
    </KeyActionsProvider>
  );
}
