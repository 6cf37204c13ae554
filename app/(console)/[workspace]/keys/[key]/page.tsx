import { ChevronLeft } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { KeyFacts } from '#components/keys/one/key-facts';
import { KeyHead } from '#components/keys/one/key-head';
import { KeyTrail } from '#components/keys/one/key-trail';
import { LiveUse } from '#components/keys/one/live-use';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { keyRowOf } from '#lib/console/show/key/rows';
import { trailRowOf } from '#lib/console/show/key/trail';
import { limitRowsOf } from '#lib/console/show/key/use';
import { showKey } from '#lib/control/operations/key/operations';
import { showKeyUse } from '#lib/control/operations/key/use';
import { listMembers } from '#lib/control/operations/member/operations';
import { listAudit } from '#lib/control/operations/trail/operations';
import { KeyPage, readSnippetFacts } from '../key-page';
import { KeyCalls, KeySpend } from './key-use';

export const metadata: Metadata = { title: 'API key' };

interface OneKeyProps {
  params: Promise<{ workspace: string; key: string }>;
}

/** One key. Unknown ids and those of other workspaces return the same not-found page. */
export default async function OneKey({ params }: OneKeyProps) {
  const { workspace: named, key: id } = await params;
  const member = await requireMember(named, 'keys:read');
  const { slug, timeZone } = member.workspace;
  const key = await readForPage(showKey, slug, { id });
  const [use, snippets, trail, members] = await Promise.all([
    readForPage(showKeyUse, slug, { id }),
    readSnippetFacts(slug),
    readForPage(listAudit, slug, { subject: key.id, limit: 20 }),
    readForPage(listMembers, slug, { limit: 500 }),
  ]);
  const nowMs = Date.now();
  const row = keyRowOf(key, { workspace: slug, timeZone, nowMs });
  const people = new Map(members.data.map(({ id, name, email }) => [id, name ?? email]));
  return (
    <KeyPage member={member} {...snippets}>
      <Link
        href={`/${slug}/keys`}
        className="-mb-3 inline-flex items-center gap-1 justify-self-start text-muted hover:text-ink"
      >
        <ChevronLeft aria-hidden className="size-4" />
        API keys
      </Link>
      <KeyHead row={row} />
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-[1.6fr_1fr]">
        <div className="grid min-w-0 gap-6">
          <KeySpend workspace={member.workspace} id={key.id} nowMs={nowMs} />
          <LiveUse rows={limitRowsOf(use, { timeZone, nowMs })} address={`${row.href}/use`} />
        </div>
        <div className="grid min-w-0 gap-6">
          <KeyFacts
            facts={[
              { name: 'Created by', value: key.createdBy?.name ?? 'an operator or a management key' },
              { name: 'Created', value: row.created.text, exact: row.created.exact },
              row.lastUsed
                ? { name: 'Last used', value: row.lastUsed.text, exact: row.lastUsed.exact }
                : { name: 'Last used', value: 'never' },
              {
                name: 'Expires',
                value: row.expires ?? (key.expiresAt === null ? 'never' : 'expired'),
              },
              { name: 'Models', value: row.models?.join(', ') ?? 'all, including future models' },
              ...(key.maxOutputTokens === null
                ? []
                : [{ name: 'Output', value: `at most ${key.maxOutputTokens} tokens per call` }]),
            ]}
          />
          <KeyTrail rows={trail.data.map((one) => trailRowOf(one, { timeZone, nowMs, people }))} />
        </div>
      </div>
      <KeyCalls workspace={member.workspace} id={key.id} nowMs={nowMs} logHref={row.logHref} />
    </KeyPage>
  );
}
