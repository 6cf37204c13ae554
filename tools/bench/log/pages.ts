import { namedQuestion } from '#lib/console/usage/address';
import { listCalledModels, listCalls } from '#lib/control/operations/call/operations';
import { listKeyMakers, listKeyNames, listKeys, showKey } from '#lib/control/operations/key/operations';
import { showKeyUse } from '#lib/control/operations/key/use';
import { listLedger, listMonths, showStatement } from '#lib/control/operations/ledger/operations';
import { listMembers } from '#lib/control/operations/member/operations';
import { showOverview } from '#lib/control/operations/overview/operations';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { ledgerOfUsage, seriesOfUsage, showUsage } from '#lib/control/operations/usage/operations';
import { showMonth } from '#lib/control/operations/workspace/month';
import { rangeNamed } from '#lib/core/charts/ranges';
import type { Tenant } from './crowd.ts';

/** A question, asked through the function that pages, commands and the API use. */
export interface Question {
  readonly name: string;
  /** @returns the result in a word or two. */
  ask(): Promise<string>;
}

const operator = { kind: 'operator', name: 'bench', address: null } as const;
const splits = ['model', 'provider', 'key', 'member'] as const;

/**
 * What the pages of the console that show sums of usage ask the database, all questions of a page at once as the page
 * does, and the same operations with what commands and the API ask.
 * @param untilMs where the log ends.
 */
export function pagesOf(host: ControlHost, { slug, keys, members }: Tenant, untilMs: number): Question[] {
  const of = { actor: operator, workspace: slug };
  const zone = 'UTC';
  const key = keys[0] ?? '';
  const month = rangeNamed('month', untilMs, zone);
  const span = { from: new Date(month.fromMs).toISOString(), to: new Date(month.toMs).toISOString() };
  const series = (name: Parameters<typeof namedQuestion>[0], more: Record<string, unknown> = {}) =>
    ask(host, seriesOfUsage, { ...of, input: { ...namedQuestion(name, untilMs, zone), ...more } });
  const page = (name: string, reads: () => readonly Promise<unknown>[]): Question => ({
    name: `page: ${name}`,
    ask: async () => `${(await Promise.all(reads())).length} reads`,
  });
  const usage = (name: string, more: Record<string, unknown>): Question => ({
    name: `usage.show ${name}`,
    ask: async () => {
      const { total, rows } = await ask(host, showUsage, { ...of, input: more });
      return `${total.calls} calls in ${rows.length} rows`;
    },
  });
  const usagePage = (name: Parameters<typeof namedQuestion>[0], more: Record<string, unknown>) => [
    series(name, more),
    ask(host, ledgerOfUsage, { ...of, input: { from: namedQuestion(name, untilMs, zone).from } }),
    ask(host, showMonth, { ...of, input: {} }),
    ask(host, listKeyNames, { ...of, input: { limit: 200 } }),
    ask(host, listCalledModels, { ...of, input: {} }),
  ];
  return [
    page('overview', () => [
      ask(host, showOverview, { ...of, input: {} }),
      series('30d', { by: 'model' }),
      series('today'),
      series('month'),
      series('24h'),
      ask(host, listCalls, { ...of, input: { limit: 10 } }),
      ask(host, listMonths, { ...of, input: {} }),
    ]),
    ...(['24h', '7d', '30d', '90d'] as const).map((name) =>
      page(`usage, ${name}`, () => usagePage(name, {})),
    ),
    ...splits.map((by) => page(`usage, 30d by ${by}`, () => usagePage('30d', { by }))),
    ...splits.map((by) => page(`usage, 7d by ${by}`, () => usagePage('7d', { by }))),
    page('usage of a key, 30d by model', () => [series('30d', { by: 'model', key })]),
    page('usage of a member, 30d by model', () => [series('30d', { by: 'model', member: members[0] })]),
    page('usage of a model, 30d by key', () => [series('30d', { by: 'key', model: 'openai/gpt-4.1' })]),
    page('members with their spend', () => [
      ask(host, listMembers, { ...of, input: { limit: 100 } }),
      ask(host, showUsage, { ...of, input: { by: 'member', durations: false, ...span } }),
    ]),
    ...['created', '-spend', '-total', '-lastUsed'].map((sort) =>
      page(`keys by ${sort}`, () => [
        ask(host, listKeys, { ...of, input: { sort, limit: 50 } }),
        ask(host, listKeyMakers, { ...of, input: {} }),
      ]),
    ),
    page('a key', () => [
      ask(host, showKey, { ...of, input: { id: key } }),
      ask(host, showKeyUse, { ...of, input: { id: key } }),
      series('30d', { key }),
      ask(host, listCalls, { ...of, input: { key, limit: 10 } }),
    ]),
    page('billing', () => [
      ask(host, showMonth, { ...of, input: {} }),
      ask(host, listLedger, { ...of, input: { order: 'newest', limit: 20 } }),
      ask(host, listMonths, { ...of, input: {} }),
    ]),
    page('statement of the month', () => [
      ask(host, showStatement, { ...of, input: { month: span.from.slice(0, 7) } }),
      ask(host, listMonths, { ...of, input: {} }),
    ]),
    ...splits.map((by) => usage(`by ${by}`, { by })),
    usage('by key, without durations', { by: 'key', durations: false }),
    usage('by day', { by: 'day' }),
    usage('of the month by member', { by: 'member', durations: false, ...span }),
  ];
}
