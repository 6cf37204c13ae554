import type { CallStatus, Place } from '#lib/console/show/call-status';
import { showAgo, showMinute } from '#lib/console/show/time';
import type { ListedWorkspace } from '#lib/control/operations/workspace/settings';
import { showCount, showMoney, showMoneyDown } from '#lib/core/show-money';

type Shown = Pick<
  ListedWorkspace,
  | 'refusing'
  | 'balance'
  | 'credit'
  | 'budget'
  | 'timeZone'
  | 'suspendedReason'
  | 'rpm'
  | 'tpm'
  | 'concurrency'
>;

/** What the calls of a workspace come to now, whatever their key; for the pages of operators. Pure. */
export function workspaceStatusOf(workspace: Shown, { nowMs }: Pick<Place, 'nowMs'>): CallStatus {
  const { refusing } = workspace;
  if (refusing === null) return { tone: 'good', text: 'Active', note: null, why: 'Its calls are served.' };
  const { cause, latest, code, until } = refusing;
  if (cause === 'suspended') {
    const reason = workspace.suspendedReason;
    return {
      tone: 'bad',
      text: 'Suspended',
      note: reason,
      why: `Every call is refused with 403 until an operator resumes the workspace. ${reason === null ? 'No reason was given.' : 'Its members read the reason and the contact below.'}`,
    };
  }
  if (cause === 'funds') {
    const credit = workspace.credit === '0' ? '' : ` and the credit ${showMoneyDown(workspace.credit)}`;
    return {
      tone: 'bad',
      text: 'No funds',
      note: 'until funds are added',
      why: `The balance is ${showMoneyDown(workspace.balance)}${credit}: every call is refused with 402 until funds are added.`,
    };
  }
  if (cause === 'budget') {
    const when = until === null ? 'the month ends' : showMinute(Date.parse(until), workspace.timeZone);
    return {
      tone: 'bad',
      text: 'Budget used up',
      note: `resets ${when}`,
      why: `The monthly budget of ${showMoney(workspace.budget ?? '0')} is used up: every call is refused with 402 until ${when} (${workspace.timeZone}), or until the budget is raised.`,
    };
  }
  const refused = showCount(latest?.refused ?? 0);
  return {
    tone: 'warn',
    text: 'Rate limited',
    note: `${refused} in the last hour`,
    why: `${refused} ${latest?.refused === 1 ? 'call was' : 'calls were'} refused with 429 in the last hour, the latest ${latest ? showAgo(Date.parse(latest.at), nowMs) : 'just now'}, by the workspace’s limit of ${limitOf(code, workspace)}. It frees up within a minute.`,
  };
}

function limitOf(code: string, workspace: Shown): string {
  const [, limit] = /^workspace_(rpm|tpm|concurrency)_exceeded$/.exec(code) ?? [];
  if (limit !== 'rpm' && limit !== 'tpm' && limit !== 'concurrency') return 'its rate';
  const unit = { rpm: 'requests a minute', tpm: 'tokens a minute', concurrency: 'concurrent calls' }[limit];
  const most = workspace[limit];
  return most === null ? unit : `${showCount(most)} ${unit}`;
}
