import type { UseRow } from '#lib/console/show/key/use';
import { showAgo, showMoment, showZone } from '#lib/console/show/time';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney, showMoneyDown } from '#lib/core/show-money';

interface Rate {
  readonly used: number;
  readonly limit: number | null;
}

/** The current use of each limit of a workspace, as on a key's panel. */
export function workspaceLimitRows(use: { requests: Rate; tokens: Rate; atOnce: Rate }): UseRow[] {
  const rate = (name: string, { used, limit }: Rate, note: string): UseRow => ({
    name,
    note,
    used: showCount(used),
    limit: limit === null ? null : showCount(limit),
    part: limit === null ? null : used / limit,
  });
  return [
    rate('Requests a minute', use.requests, 'in the last 60 s'),
    rate('Tokens a minute', use.tokens, 'in the last 60 s'),
    rate('Concurrent calls', use.atOnce, 'running'),
  ];
}

const refusers: Readonly<Record<string, string>> = {
  workspace_rpm_exceeded: 'Requests a minute',
  workspace_tpm_exceeded: 'Tokens a minute',
  workspace_concurrency_exceeded: 'Concurrent calls',
  insufficient_balance: 'The balance',
};

/** The most recent refusal by a limit. */
export function refusalRowOf(
  { code, at, call }: { readonly code: string; readonly at: string; readonly call: string },
  { timeZone, nowMs }: { readonly timeZone: string; readonly nowMs: number },
) {
  const atMs = Date.parse(at);
  return {
    code,
    call,
    limit: refusers[code] ?? code,
    ago: showAgo(atMs, nowMs),
    exact: `${showMoment(atMs, timeZone)} (${showZone(timeZone, atMs)})`,
  };
}

interface Losses {
  readonly balance: string;
  readonly held: string;
  readonly apiKeys: number;
  readonly managementKeys: number;
  readonly members: number;
  readonly invitations: number;
  readonly runningJobs: number;
}

const counted = (count: number, one: string, many: string) =>
  `${showCount(count)} ${count === 1 ? one : many}`;

/** What is lost when a workspace is deleted, one sentence each. */
export function lossTexts(losses: Losses): string[] {
  const { apiKeys, managementKeys, members, invitations } = losses;
  const balance = parseUsd(losses.balance);
  return [
    balance > 0n
      ? `A balance of ${showMoneyDown(losses.balance)}, which can no longer be spent. Ask your gateway administrator for a refund before you delete the workspace.`
      : 'No money: the balance is zero.',
    ...(parseUsd(losses.held) > 0n
      ? [`Running calls finish and are charged; they currently hold ${showMoney(losses.held)}.`]
      : []),
    `${counted(apiKeys, 'API key', 'API keys')} and ${counted(managementKeys, 'management key', 'management keys')}: all stop working immediately.`,
    `${counted(members, 'member loses', 'members lose')} access.`,
    ...(invitations > 0
      ? [`${counted(invitations, 'open invitation is', 'open invitations are')} canceled.`]
      : []),
    'Routing policies, alerts, webhooks and automatic top-ups. The slug cannot be used by any other workspace.',
  ];
}

/** What prevents a deletion; null: nothing. */
export function blockText({ runningJobs }: Pick<Losses, 'runningJobs'>): string | null {
  if (runningJobs === 0) return null;
  return `${counted(runningJobs, 'job is', 'jobs are')} still running. Cancel them or wait until they end, then delete the workspace.`;
}

/** Every time zone that this machine knows, and the one in use, with their current offsets. */
export function zoneChoices(used: string, nowMs: number) {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const all = [...new Set(known.includes(used) ? known : [used, ...known])];
  return all.map((value) => {
    const [, offset] = showZone(value, nowMs).split(', ');
    return { value, label: offset ? `${value} (${offset})` : value };
  });
}
