import type { TriedPrice } from '#lib/console/gateway/price-effect';
import { showAgo } from '#lib/console/show/time';
import type { ShownProposal, ShownProposals } from '#lib/control/operations/catalogue/shown-proposals';
import { showCount, showMoney } from '#lib/core/show-money';

const tableNames = { 'models.dev': 'models.dev', litellm: 'LiteLLM' } as const;

/** A proposal as its page shows it. */
export interface ProposalRow {
  readonly id: string;
  readonly model: string;
  readonly provider: string;
  readonly before: string | null;
  readonly after: string;
  /** "models.dev and LiteLLM". */
  readonly tables: string;
  /** What another table says, and what to look at. */
  readonly notes: readonly string[];
  /** What last week's calls would have cost; null: nothing to compare. */
  readonly effect: TriedPrice | null;
  /** About last week's calls, if there is nothing to compare. */
  readonly use: string | null;
}

export interface ProposalGroup {
  readonly title: string;
  readonly note: string;
  /** What choosing all of them is called. */
  readonly rows: readonly ProposalRow[];
}

const titles: Readonly<Record<ShownProposal['kind'], readonly [string, string]>> = {
  price: ['Changed prices', 'A new price applies to new calls'],
  retirement: ['Last days', 'After this day, no calls are sent there'],
  withdrawal: ['No longer listed or deprecated', 'Accepting withdraws the offer'],
  alias: ['Aliases', 'A “latest” alias moves to a newer model'],
  new: ['New models', ''],
};

/** Proposals by kind, new models also by provider. Pure. */
export function proposalGroups(proposals: readonly ShownProposal[]): ProposalGroup[] {
  const groups = new Map<string, { title: string; note: string; rows: ProposalRow[] }>();
  for (const proposal of proposals) {
    const { kind, provider } = proposal;
    const [name, note] = titles[kind];
    const title = kind === 'new' ? `${name} of ${provider}` : name;
    const group = groups.get(title) ?? { title, note, rows: [] };
    group.rows.push(proposalRow(proposal));
    groups.set(title, group);
  }
  return [...groups.values()].map((group) => ({ ...group, note: group.note || `${group.rows.length}` }));
}

function proposalRow(proposal: ShownProposal): ProposalRow {
  const { id, kind, model, provider, before, after, tables, others, warnings, effect } = proposal;
  const used = effect !== null && effect.calls + effect.unpriced > 0;
  const priced = kind === 'price' || kind === 'alias';
  return {
    ...{ id, model, provider, before, after },
    tables: tables.map((table) => tableNames[table]).join(' and '),
    notes: [
      ...others.map(({ table, says }) => `${tableNames[table]} says: ${says}.`),
      ...warnings.map((warning) => `${warning.slice(0, 1).toUpperCase()}${warning.slice(1)}.`),
    ],
    effect: used && priced ? effect : null,
    use: callsOf(kind, effect),
  };
}

function callsOf(kind: ShownProposal['kind'], effect: ShownProposal['effect']): string | null {
  if (kind === 'new') return null;
  if (effect === null) return kind === 'price' ? 'The offer has no price yet, so it gets no calls.' : null;
  const calls = effect.calls + effect.unpriced;
  if (calls === 0) return 'No charged calls in the last 7 days.';
  if (kind === 'price' || kind === 'alias') return null;
  const things = calls === 1 ? '1 call' : `${showCount(calls)} calls`;
  return `${things} in the last 7 days, charged ${showMoney(effect.charged)}.`;
}

/** A price table as its page shows it. */
export interface TableRow {
  readonly name: string;
  readonly tone: 'good' | 'bad' | 'neutral';
  /** "Read 2 hours ago". */
  readonly state: string;
  /** Models, or why it could not be read. */
  readonly note: string;
  readonly unknown: readonly string[];
}

/** Pure. */
export function tableRow(
  { id, readAt, failure, models, others, unknown }: ShownProposals['tables'][number],
  nowMs: number,
): TableRow {
  const read = readAt === null ? null : showAgo(Date.parse(readAt), nowMs);
  const counts = `${showCount(models)} models of known providers, ${showCount(others)} of others`;
  return {
    name: tableNames[id],
    tone: failure !== null ? 'bad' : read === null ? 'neutral' : 'good',
    state: failure !== null ? 'Could not be read' : read === null ? 'Not read yet' : `Read ${read}`,
    note:
      failure === null
        ? read === null
          ? 'Check now to read it.'
          : `${counts}.`
        : `${failure.slice(0, 1).toUpperCase()}${failure.slice(1)}.${read === null ? '' : ` What was read ${read} is shown.`}`,
    unknown: unknown.map(
      ({ field, models: count, example }) =>
        `${field}: ${count === 1 ? '1 model' : `${showCount(count)} models`}, such as ${example}`,
    ),
  };
}

const skipped: Readonly<Record<string, string>> = {
  withdrawn: 'withdrawn here',
  otherKinds: 'of kinds that the provider does not serve here',
  unpriced: 'without a price',
  deprecated: 'deprecated',
  deployments: 'deployed by customers under names of their own',
};

/** What the tables list and nothing is proposed for; a sentence each. Pure. */
export function leftOutLines({
  notProposed,
  unlisted,
  notCompared,
}: Pick<ShownProposals, 'notProposed' | 'unlisted' | 'notCompared'>): string[] {
  const counts = Object.entries(notProposed).filter(([, count]) => count > 0);
  const list = counts.map(([why, count]) => `${showCount(count)} ${skipped[why] ?? why}`).join(', ');
  return [
    ...(counts.length > 0 ? [`Listed models that are not proposed: ${list}.`] : []),
    ...(unlisted.length > 0 ? [`Providers that no table lists: ${unlisted.join(', ')}.`] : []),
    ...notCompared.map((part) => `Not compared, because the price counts by something else: ${part}.`),
  ];
}
