import { FundsSource } from '#components/first-run/funds-source';
import { FirstRunPanel } from '#components/first-run/panel';
import { CreateKeyButton, KeyCreation } from '#components/keys/create-key';
import { actorOf } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { firstRunStateOf } from '#lib/console/first-run';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showFirstRun } from '#lib/control/operations/workspace/first-run';
import { formatUsd } from '#lib/core/money';
import { showMoney } from '#lib/core/show-money';
import { readFirstRun } from './first-run-action';
import { KeyPage, readSnippetFacts } from './keys/key-page';

/**
 * The first steps in a new workspace, until half an hour after its first answered call; then nothing.
 * @param workspace slug.
 */
export async function FirstRun({ workspace: slug }: { workspace: string }) {
  const member = await requireMember(slug, 'workspace:read');
  const { workspace } = member;
  const state = await readForPage(showFirstRun, workspace.slug, {});
  if (state.over) return null;
  const snippets = await readSnippetFacts(workspace.slug);
  const { unverified } = await actorOf(member.user);
  const { accounts, payments } = getConsoleHost().control;
  const creditNano = accounts?.creditNano ?? 0n;
  const funds =
    unverified && creditNano > 0n ? (
      `You get ${showMoney(formatUsd(creditNano))} of credit once your address is verified.`
    ) : (
      <FundsSource
        billing={`/${workspace.slug}/billing`}
        payments={Boolean(payments) && !workspace.demo}
        pays={lockOf(member, 'billing:write', 'add funds') === null}
      />
    );
  return (
    <KeyPage member={member} {...snippets}>
      <KeyCreation>
        <FirstRunPanel
          workspace={workspace.slug}
          first={firstRunStateOf(state)}
          read={readFirstRun}
          facts={snippets.facts}
          funds={funds}
          createKey={unverified ? <p>Verify your address first.</p> : <CreateKeyButton />}
        />
      </KeyCreation>
    </KeyPage>
  );
}
