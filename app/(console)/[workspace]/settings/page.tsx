import type { Metadata } from 'next';
import Link from 'next/link';
import { LiveUse } from '#components/keys/one/live-use';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { DangerZone } from '#components/settings/danger-zone';
import { SettingsForm } from '#components/settings/settings-form';
import { SlugForm } from '#components/settings/slug-form';
import { ZoneForm } from '#components/settings/zone-form';
import { getConsoleHost } from '#lib/console/db';
import { formOf } from '#lib/console/form';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import {
  blockText,
  lossTexts,
  refusalRowOf,
  workspaceLimitRows,
  zoneChoices,
} from '#lib/console/team/settings-texts';
import { showDeletion } from '#lib/control/operations/workspace/delete';
import { showLimits } from '#lib/control/operations/workspace/limits';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { renameWorkspace } from '#lib/control/operations/workspace/rename';
import { workspaceSettings } from '#lib/control/operations/workspace/settings';
import { may } from '#lib/core/role';
import { deleteWorkspaceAction, renameWorkspaceAction, setWorkspaceAction } from './actions';

export const metadata: Metadata = { title: 'Settings' };

const { name, retentionDays, strict, content, contentShare, contentDays, tags, endUsers } = workspaceSettings;
const { maskKeys, maskMail, maskCards, maskPhones, maskPatterns } = workspaceSettings;
const { idempotency, cache, cacheSeconds } = workspaceSettings;
const ungrouped = ({ rpm, tpm, concurrency }: typeof workspaceSettings) =>
  formOf({ rpm, tpm, concurrency }).map(({ group: _, ...field }) => field);

const textOf = (value: number | null) => (value === null ? '' : String(value));

export default async function SettingsPage({ params }: { params: Promise<{ workspace: string }> }) {
  const member = await requireMember((await params).workspace, 'workspace:read');
  const { workspace } = member;
  const { slug, timeZone } = workspace;
  const deletes = may(member.role, 'workspace:delete') && !workspace.demo;
  const [settings, limits, deletion] = await Promise.all([
    readForPage(showWorkspace, slug, {}),
    readForPage(showLimits, slug, {}),
    deletes ? readForPage(showDeletion, slug, {}) : null,
  ]);
  const nowMs = Date.now();
  const locked = lockOf(member, 'workspace:write', 'change settings');
  const common = { workspace: slug, locked, send: setWorkspaceAction };
  const masks = {
    maskKeys: settings.maskKeys,
    maskMail: settings.maskMail,
    maskCards: settings.maskCards,
    maskPhones: settings.maskPhones,
    maskPatterns: settings.maskPatterns ?? '',
  };
  const isMasked = Object.values(masks).some(Boolean);
  const [slugField] = formOf(renameWorkspace.fields);
  const { env } = getConsoleHost();
  return (
    <>
      <PageHead help="settings" title="Settings">
        Settings for the whole workspace. Changes apply within 2 seconds.
      </PageHead>
      <Section title="General" note={`Id ${workspace.id}`}>
        <SettingsForm
          key={`${settings.name} ${settings.retentionDays}`}
          {...common}
          fields={formOf({ name, retentionDays })}
          initial={{ name: settings.name, retentionDays: textOf(settings.retentionDays) }}
          saved="Settings saved"
        />
      </Section>
      <Section title="Time zone">
        <ZoneForm
          workspace={slug}
          zone={timeZone}
          zones={zoneChoices(timeZone, nowMs)}
          locked={locked}
          send={setWorkspaceAction}
        />
      </Section>
      <Section title="Address" note="Old addresses redirect to the new one">
        {slugField ? (
          <SlugForm workspace={slug} field={slugField} locked={locked} rename={renameWorkspaceAction}>
            <p className="text-muted text-xs leading-5 [overflow-wrap:anywhere]">
              This workspace’s address is {env.publicUrl}/{slug}. Links and scripts that use an earlier slug
              keep working.
            </p>
          </SlugForm>
        ) : null}
      </Section>
      <LiveUse rows={workspaceLimitRows(limits)} address={`/${slug}/settings/use`} />
      <Section title="Workspace limits" note="In addition to key limits; the lower limit applies">
        <SettingsForm
          key={`${settings.rpm} ${settings.tpm} ${settings.concurrency}`}
          {...common}
          fields={ungrouped(workspaceSettings)}
          initial={{
            rpm: textOf(settings.rpm),
            tpm: textOf(settings.tpm),
            concurrency: textOf(settings.concurrency),
          }}
          saved="Limits saved"
        >
          {limits.refusals.length > 0 ? (
            <ul className="grid gap-1 leading-5" aria-label="Latest refusal">
              {limits.refusals
                .map((one) => refusalRowOf(one, { timeZone, nowMs }))
                .map(({ code, limit, ago, exact, call }) => (
                  <li key={code} className="text-muted">
                    <span className="text-ink">{limit}</span> refused a call <span title={exact}>{ago}</span>:{' '}
                    <Link
                      href={`/${slug}/logs/${call}`}
                      prefetch={false}
                      className="underline underline-offset-2 hover:text-ink"
                    >
                      {code}
                    </Link>
                  </li>
                ))}
            </ul>
          ) : (
            <p className="text-muted leading-5">No calls have been refused by a workspace limit recently.</p>
          )}
        </SettingsForm>
      </Section>
      <Section title="Content of calls" note={settings.content === 'off' ? 'Not kept' : 'Kept'}>
        <SettingsForm
          key={`${settings.content} ${settings.contentShare} ${settings.contentDays}`}
          {...common}
          locked={
            env.content !== false
              ? locked
              : 'The operator of this gateway has turned this off for all workspaces.'
          }
          fields={formOf({ content, contentShare, contentDays })}
          initial={{
            content: settings.content,
            contentShare: textOf(settings.contentShare),
            contentDays: textOf(settings.contentDays),
          }}
          saved="Saved"
        >
          <p className="max-w-3xl text-muted leading-6">
            Keeps what calls were asked and answered, so that members can read it on the call’s page. It is
            stored encrypted, without files and pictures, and each reading is in the audit log. A key may have
            a setting of its own; the header <code>X-Gateway-Content: off</code> keeps a call out.
          </p>
        </SettingsForm>
      </Section>
      <Section title="Masks" note={isMasked ? 'Masked before it is kept' : 'Nothing is masked'}>
        <SettingsForm
          key={`${masks.maskKeys} ${masks.maskMail} ${masks.maskCards} ${masks.maskPhones} ${masks.maskPatterns}`}
          {...common}
          fields={formOf({ maskKeys, maskMail, maskCards, maskPhones, maskPatterns })}
          initial={masks}
          saved="Masks saved"
        >
          <p className="max-w-3xl text-muted leading-6">
            What is found in the content of calls is replaced by a mark such as{' '}
            <code>[masked: mail address]</code> before it is kept, also if a stream delivered it in pieces.
            Content that cannot be masked is not kept. This is for calls that begin from now on; your programs
            and the models still get everything.
          </p>
        </SettingsForm>
      </Section>
      <Section
        title="Repeats and cache"
        note={settings.idempotency || settings.cache !== 'off' ? 'Answers are kept' : 'Off'}
      >
        <SettingsForm
          key={`${settings.idempotency} ${settings.cache} ${settings.cacheSeconds}`}
          {...common}
          locked={
            env.content !== false
              ? locked
              : 'The operator of this gateway has turned this off for all workspaces.'
          }
          fields={formOf({ idempotency, cache, cacheSeconds })}
          initial={{
            idempotency: settings.idempotency,
            cache: settings.cache,
            cacheSeconds: textOf(settings.cacheSeconds),
          }}
          saved="Saved"
        >
          <p className="max-w-3xl text-muted leading-6">
            A request that is sent again with its <code>Idempotency-Key</code>, or that the cache knows, gets
            the answer of the first one and costs nothing. Answers are stored encrypted, and no other
            workspace gets them. A key may have settings of its own.
          </p>
        </SettingsForm>
      </Section>
      <Section
        anchor="tags"
        title="Tags and end users"
        note={settings.tags || settings.endUsers ? 'Recorded' : 'Not recorded'}
      >
        <SettingsForm
          key={`${settings.tags} ${settings.endUsers}`}
          {...common}
          fields={formOf({ tags, endUsers })}
          initial={{ tags: settings.tags, endUsers: settings.endUsers }}
          saved="Saved"
        >
          <p className="max-w-3xl text-muted leading-6">
            Tags are pairs such as <code>feature=search</code> in the header <code>X-Gateway-Tags</code> or in{' '}
            <code>metadata</code>; an end user is the id in <code>safety_identifier</code>, <code>user</code>{' '}
            or <code>metadata.user_id</code>. The log can then be searched by them,{' '}
            <Link
              href={`/${slug}/usage/tags`}
              prefetch={false}
              className="underline underline-offset-2 hover:text-ink"
            >
              usage
            </Link>{' '}
            is added up by them, and each may have a{' '}
            <Link
              href={`/${slug}/tag-budgets`}
              prefetch={false}
              className="underline underline-offset-2 hover:text-ink"
            >
              budget
            </Link>
            .
          </p>
          <p className="max-w-3xl text-muted leading-6">
            Privacy: what is off is neither read nor stored. What is on is stored in plain text with each
            call, for as long as the call is in the log; members who read the log see it, and it is in exports
            and OpenTelemetry spans. Send ids that mean nothing to others, not names or mail addresses.
            Turning it off again ends the budgets, and deletes nothing that was recorded.
          </p>
        </SettingsForm>
      </Section>
      <Section title="Strict budget" note={settings.strict ? 'On' : 'Off'}>
        <SettingsForm
          key={String(settings.strict)}
          {...common}
          fields={formOf({ strict })}
          initial={{ strict: settings.strict }}
          saved="Strict budget saved"
        >
          <p className="max-w-3xl text-muted leading-6">
            Off: a call reserves its estimated cost. If it costs more it still completes, and the balance may
            fall slightly below 0. On: a call reserves the most it can cost, based on the model’s maximum
            output. The balance never falls below 0, but calls are refused with 402 sooner, and a stream that
            exceeds the remaining balance is cut off with an error. Requests that set a maximum of output
            tokens reserve less.
          </p>
        </SettingsForm>
      </Section>
      {deletion ? (
        <Section title="Danger zone" note="Owners only">
          <DangerZone
            workspace={slug}
            name={workspace.name}
            losses={lossTexts(deletion)}
            blocked={blockText(deletion) ?? locked}
            remove={deleteWorkspaceAction}
          />
        </Section>
      ) : null}
    </>
  );
}
