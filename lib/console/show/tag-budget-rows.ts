import type { z } from 'zod';
import { showForeign } from '#lib/console/show/foreign';
import { tagFilterOf } from '#lib/console/show/tag-links';
import { showAgo, showDay, showMinute, showMoment } from '#lib/console/show/time';
import type { listTagBudgets, showTagSpend } from '#lib/control/operations/tag-budget/operations';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

type Listed = z.output<(typeof listTagBudgets)['output']>['data'][number];
type Looked = z.output<(typeof showTagSpend)['output']>;

interface Place {
  /** Slug. */
  readonly workspace: string;
  readonly timeZone: string;
  readonly nowMs: number;
  /** What the workspace has recorded. */
  readonly recorded: { readonly tags: boolean; readonly endUsers: boolean };
}

const windows = { dailyCap: 'day', d7Cap: 'd7', d30Cap: 'd30' } as const;
type Cap = keyof typeof windows;
const capNames: Readonly<Record<Cap, string>> = {
  dailyCap: 'Today',
  d7Cap: 'Any 7 days',
  d30Cap: 'Any 30 days',
};
const caps = Object.keys(windows) as Cap[];

/** "End user user-17", "Each value of feature". */
function titleOf(tag: string | null, value: string | null): string {
  if (value === null) return tag === null ? 'Each end user' : `Each value of ${tag}`;
  return tag === null ? showForeign(value) : `${tag}=${showForeign(value)}`;
}

/** An amount of its cap. @param spent undefined: nothing is added up. */
function capOf(cap: string | null, spent: string | undefined) {
  if (cap === null) return null;
  return {
    text: spent === undefined ? showMoney(cap) : `${showMoney(spent)} of ${showMoney(cap)}`,
    used: spent === undefined ? null : Number(parseUsd(spent)) / Number(parseUsd(cap)),
  };
}

function ratesOf({ rpm, tpm }: Pick<Listed, 'rpm' | 'tpm'>): readonly string[] {
  return [
    ...(rpm === null ? [] : [`${showCount(rpm)} ${rpm === 1 ? 'request' : 'requests'}`]),
    ...(tpm === null ? [] : [`${showCount(tpm)} ${tpm === 1 ? 'token' : 'tokens'}`]),
  ];
}

/** Until when calls are refused, in words and exactly. */
function refusalOf({ refusing }: Pick<Listed, 'refusing'>, { timeZone, nowMs }: Place) {
  if (refusing === null) return null;
  const { code, until, latest } = refusing;
  if (latest !== null) {
    const { refused, values } = latest;
    const whose = values > 1 ? ` of ${showCount(values)} values` : '';
    const calls = `${showCount(refused)} ${refused === 1 ? 'call' : 'calls'}${whose} in the last hour`;
    const ago = showAgo(Date.parse(latest.at), nowMs);
    return {
      code,
      limited: true,
      until: calls,
      exact: `The latest at ${showMoment(Date.parse(latest.at), timeZone)}`,
      why: `${calls} got 429 ${code}, the latest ${ago}. The limit frees up within a minute.`,
    };
  }
  const atMs = until === null ? null : Date.parse(until);
  const admitted = atMs === null ? 'when the budget is raised' : showAgo(atMs, nowMs);
  return {
    code,
    limited: false,
    why: `Calls get 402 ${code}; they are admitted again ${admitted}.`,
    until: atMs === null ? 'until the budget is raised' : `until ${showMinute(atMs, timeZone)}`,
    exact: atMs === null ? '' : showMoment(atMs, timeZone),
  };
}

/** A budget in the list, ready to read. */
export function tagBudgetRowOf(budget: Listed, place: Place) {
  const { tag, value, spent } = budget;
  const binds = tag === null ? place.recorded.endUsers : place.recorded.tags;
  const log = value === null ? null : new URLSearchParams(tagFilterOf(tag, value));
  return {
    id: budget.id,
    title: titleOf(tag, value),
    note: value === null ? 'default' : 'exception',
    caps: {
      dailyCap: capOf(budget.dailyCap, spent?.day),
      d7Cap: capOf(budget.d7Cap, spent?.d7),
      d30Cap: capOf(budget.d30Cap, spent?.d30),
    },
    rates: ratesOf(budget),
    /** In 30 days; null: the budget is one of each value. */
    spend: spent === null ? null : { text: showMoney(spent.d30), exact: `$${spent.d30}` },
    binds,
    off: `${tag === null ? 'End users are' : 'Tags are'} not recorded`,
    refusing: refusalOf(budget, place),
    ofOne: value !== null,
    created: showDay(Date.parse(budget.createdAt), place.timeZone),
    log: log && `/${place.workspace}/logs?${log}`,
    /** Values of the form that edits it, by field. */
    settings: {
      dailyCap: budget.dailyCap ?? '',
      d7Cap: budget.d7Cap ?? '',
      d30Cap: budget.d30Cap ?? '',
      rpm: budget.rpm === null ? '' : String(budget.rpm),
      tpm: budget.tpm === null ? '' : String(budget.tpm),
    },
  };
}
export type TagBudgetRow = ReturnType<typeof tagBudgetRowOf>;

/** What was found out about one end user or value, ready to read. */
export function tagSpendOf(found: Looked, place: Place) {
  const { tag, value, budget, spent } = found;
  return {
    title: titleOf(tag, value),
    subject: { tag, value },
    caps: caps.map((cap) => {
      const bound = budget === null ? null : budget[cap];
      return {
        name: capNames[cap],
        spent: showMoney(spent[windows[cap]]),
        exact: `$${spent[windows[cap]]}`,
        cap: bound === null ? null : showMoney(bound),
        part: bound === null ? null : Number(parseUsd(spent[windows[cap]])) / Number(parseUsd(bound)),
      };
    }),
    rates: budget === null ? [] : ratesOf(budget),
    recorded: found.recorded,
    /** Which budget binds it. */
    bound: boundBy(budget),
    refusing: refusalOf(found, place),
    log: `/${place.workspace}/logs?${new URLSearchParams(tagFilterOf(tag, value))}`,
  };
}

function boundBy(budget: Looked['budget']): 'own' | 'default' | null {
  if (budget === null) return null;
  return budget.value === null ? 'default' : 'own';
}

export type TagSpendFacts = ReturnType<typeof tagSpendOf>;
