import type { z } from 'zod';
import { type CsvCell, csvLine } from '#lib/console/csv/line';
import { showForeign } from '#lib/console/show/foreign';
import { tagBudgetHref, tagFilterOf } from '#lib/console/show/tag-links';
import { logHref } from '#lib/console/usage/log-href';
import type { usageByTag } from '#lib/control/operations/usage/tags';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

type TagUsage = z.output<(typeof usageByTag)['output']>;
type Figures = Omit<TagUsage['data'][number], 'value'>;

/** The rows of usage by tag, ready to read. @param workspace slug. */
export function tagUsageRowsOf({ tag, from, to, data, rest, total }: TagUsage, workspace: string) {
  const all = Number(parseUsd(total.cost));
  const shown = (of: Figures) => ({
    cost: showMoney(of.cost),
    exactCost: of.cost,
    share: all > 0 ? `${Math.round((Number(parseUsd(of.cost)) / all) * 1000) / 10}%` : '–',
    calls: showCount(of.calls),
    errors: showCount(of.errors),
    refused: showCount(of.refused),
    inputTokens: showCount(of.inputTokens),
    outputTokens: showCount(of.outputTokens),
  });
  const counted = (count: number) => `${showCount(count)} ${nounOf(tag, count)}`;
  return {
    rows: data.map(({ value, ...of }) => ({
      ...shown(of),
      value: showForeign(value),
      log: logHref(`/${workspace}/logs`, tagFilterOf(tag, value), { from, to }),
      budget: tagBudgetHref(workspace, tag, value),
    })),
    rest: rest && { name: `${counted(rest.values)} after these`, figures: shown(rest) },
    total: { name: `All ${counted(total.values)}`, figures: shown(total) },
  };
}

function nounOf(tag: string | null, count: number): string {
  const noun = tag === null ? 'end user' : 'value';
  return count === 1 ? noun : `${noun}s`;
}

/** Columns of a file of usage by tag; their names must not change. */
const columns: readonly (readonly [name: string, cell: (row: TagUsage['data'][number]) => CsvCell])[] = [
  ['value', ({ value }) => value],
  ['calls', ({ calls }) => calls],
  ['errors', ({ errors }) => errors],
  ['refused', ({ refused }) => refused],
  ['input_tokens', ({ inputTokens }) => inputTokens],
  ['output_tokens', ({ outputTokens }) => outputTokens],
  ['cost_usd', ({ cost }) => cost],
];

/** The parts of a file of usage by tag: the head, and a line. @param tag null: the values are end users. */
export function tagUsageFile(tag: string | null) {
  const name = tag === null ? 'end_user' : 'value';
  return {
    head: csvLine(columns.map(([column]) => (column === 'value' ? name : column))),
    line: (row: TagUsage['data'][number]) => csvLine(columns.map(([, cell]) => cell(row))),
  };
}
