import type { ReactNode } from 'react';
import { KeyPageProvider } from '#components/keys/key-actions';
import { getConsoleHost } from '#lib/console/db';
import { formOf } from '#lib/console/form';
import { readSnippets, snippetsFor } from '#lib/console/guide/snippets';
import { lockOf } from '#lib/console/lock';
import type { Membership } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { createKey } from '#lib/control/operations/key/operations';
import {
  changeKeysAction,
  createKeyAction,
  disableKeyAction,
  enableKeyAction,
  endOverlapAction,
  restoreKeyAction,
  revokeKeyAction,
  rotateKeyAction,
  setKeyAction,
} from './actions';

const actions = {
  create: createKeyAction,
  rotate: rotateKeyAction,
  set: setKeyAction,
  enable: enableKeyAction,
  disable: disableKeyAction,
  restore: restoreKeyAction,
  revoke: revokeKeyAction,
  endOverlap: endOverlapAction,
  each: changeKeysAction,
};

/** Base URL, first calls and a model for ready-to-paste snippets; and every model of the catalogue. */
export async function readSnippetFacts(workspace: string) {
  const { data: models, example } = await readForPage(listModelNames, workspace, {});
  const baseUrl = getConsoleHost().env.publicUrl;
  const model = example ?? models[0] ?? 'vendor/model';
  const written = snippetsFor(await readSnippets(baseUrl), model, ['chat']);
  const snippets = written.map(({ name, label, code }) => ({ name, label, code }));
  return { models, facts: { baseUrl, model, snippets } };
}

interface KeyPageProps extends Awaited<ReturnType<typeof readSnippetFacts>> {
  member: Membership;
  children: ReactNode;
}

/** What the dialogs of a page about keys work with. */
export function KeyPage({ member, models, facts, children }: KeyPageProps) {
  return (
    <KeyPageProvider
      actions={actions}
      workspace={member.workspace.slug}
      locked={lockOf(member, 'keys:write', 'change keys')}
      fields={formOf(createKey.fields)}
      models={models}
      facts={facts}
    >
      {children}
    </KeyPageProvider>
  );
}
