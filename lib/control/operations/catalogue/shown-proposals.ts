import { z } from 'zod';
import { readStored } from '#lib/control/catalogue/stored';
import type { Context } from '#lib/control/operations/declare';
import { effectOf, type PriceEffect, shownEffect } from '#lib/control/operations/price/effect';
import type { Store } from '#lib/control/operations/store';
import {
  isPlainlyNew,
  notProposed,
  type Proposal,
  type ProposalKind,
  type Proposals,
  proposalKinds,
  propose,
} from '#lib/control/price-tables/pure/propose';
import { tableIds, unknownFieldShape } from '#lib/control/price-tables/pure/table';
import { readReadings, type TableState } from '#lib/control/price-tables/readings';
import type { Price } from '#lib/core/metering/price-list';

/** The most proposals of one answer, and the most prices to try on last week's calls at once. */
const skippedWords: Readonly<Record<string, string>> = {
  withdrawn: 'withdrawn',
  otherKinds: 'of kinds or protocols that the provider does not have here',
  unpriced: 'without a price',
  deprecated: 'deprecated',
  deployments: 'that customers deploy under names of their own',
};

const mostShown = 2_000;
const mostPrices = 200;

const table = z.enum(tableIds);

const shownProposal = z.object({
  id: z.string().describe('Changes if what is in force or what is proposed changes.'),
  kind: z
    .enum(proposalKinds)
    .describe(
      'price: another price; retirement: another last day; withdrawal: no longer listed, or deprecated; alias: a "-latest" alias moves on; new: a model that the provider does not offer yet.',
    ),
  provider: z.string(),
  model: z.string().describe('Slug; of a new model, the one that it would get.'),
  upstreamModel: z.string(),
  tables: z.array(table).describe('The tables that say so.'),
  before: z.string().nullable(),
  after: z.string(),
  others: z.array(z.object({ table, says: z.string() })).describe('What another table says instead.'),
  warnings: z.array(z.string()).describe('What to look at before accepting it.'),
  dismissed: z.boolean(),
  effect: shownEffect
    .nullable()
    .describe(
      'Calls of the offer in the last 7 days, and what they would have cost; null: the offer is new or has no price, or there are too many proposals to try all.',
    ),
});
export type ShownProposal = z.output<typeof shownProposal>;

export const shownProposals = z.object({
  data: z.array(shownProposal).describe(`At most ${mostShown}, by kind, provider and model.`),
  total: z.int().describe('How many there are.'),
  dismissed: z.int().describe('How many more are dismissed.'),
  tables: z.array(
    z.object({
      id: table,
      daily: z.boolean().describe('Whether it is read every day.'),
      readFrom: z.string().nullable(),
      readAt: z.iso.datetime().nullable().describe('null: it was not read yet.'),
      failure: z.string().nullable().describe('Why the latest reading failed; what was read before stays.'),
      failedAt: z.iso.datetime().nullable(),
      models: z.int().describe('Models of known providers.'),
      others: z.int().describe('Models of providers that the gateway does not know.'),
      unknown: z.array(unknownFieldShape).describe('Fields that the gateway does not know.'),
    }),
  ),
  unlisted: z.array(z.string()).describe('Providers of the catalogue that are not in the tables.'),
  notProposed: z
    .object(
      Object.fromEntries(
        notProposed.map((name) => [
          name,
          z.int().describe(`Models that are not proposed: ${skippedWords[name]}.`),
        ]),
      ),
    )
    .describe('Listed models that are not offered and not proposed, by reason.'),
  notCompared: z
    .array(z.string())
    .describe('Parts of listed prices that are not taken over: the price in force counts by something else.'),
  standing: z.array(z.string()).describe('Providers whose new models are accepted without asking.'),
});
export type ShownProposals = z.output<typeof shownProposals>;

/** The current proposals with what they were made from. */
export interface CurrentProposals extends Proposals {
  readonly states: readonly TableState[];
  readonly dismissed: ReadonlySet<string>;
  /** Providers whose new models are accepted without asking. */
  readonly standing: ReadonlySet<string>;
  readonly stored: Awaited<ReturnType<typeof readStored>>;
}

/** Compares the tables with the catalogue of this moment; nothing is stored. */
export async function currentProposals(store: Store): Promise<CurrentProposals> {
  const { states, readings } = await readReadings(store.query);
  const stored = await readStored(store.prisma, null);
  const dismissed = await store.prisma.dismissedProposal.findMany({ select: { id: true } });
  const standing = await store.prisma.provider.findMany({
    where: { acceptNewModels: true },
    select: { id: true },
  });
  return {
    ...propose(stored, readings),
    states,
    stored,
    dismissed: new Set(dismissed.map(({ id }) => id)),
    standing: new Set(standing.map(({ id }) => id)),
  };
}

/** Those that a standing yes covers. */
export function standingYes({ proposals, dismissed, standing }: CurrentProposals): Proposal[] {
  return proposals.filter((one) => standing.has(one.provider) && !dismissed.has(one.id) && isPlainlyNew(one));
}

interface Narrowed {
  readonly kind?: ProposalKind | undefined;
  readonly provider?: string | undefined;
  /** Those that are dismissed, instead of the others. */
  readonly dismissed?: boolean | undefined;
}

export async function showProposals(
  context: Pick<Context, 'store' | 'nowMs'>,
  { kind, provider, dismissed = false }: Narrowed = {},
): Promise<ShownProposals> {
  const current = await currentProposals(context.store);
  const fits = current.proposals.filter(
    (one) =>
      (kind === undefined || one.kind === kind) && (provider === undefined || one.provider === provider),
  );
  const all = fits.filter(({ id }) => current.dismissed.has(id) === dismissed);
  const shown = all.slice(0, mostShown);
  const effects = await effectsOf(context, shown, current);
  return {
    data: shown.map(({ accept: _, price: __, offerId: ___, ...one }) => ({
      ...one,
      tables: [...one.tables],
      others: [...one.others],
      warnings: [...one.warnings],
      dismissed,
      effect: effects.get(one.id) ?? null,
    })),
    total: all.length,
    dismissed: dismissed ? 0 : fits.length - all.length,
    tables: current.states.map(({ readAt, failedAt, unknown, ...state }) => ({
      ...state,
      readAt: readAt?.toISOString() ?? null,
      failedAt: failedAt?.toISOString() ?? null,
      unknown: [...unknown],
    })),
    unlisted: [...current.unlisted],
    notProposed: current.notProposed,
    notCompared: [...current.notCompared],
    standing: [...current.standing].sort(),
  };
}

/**
 * By id of the proposal: what last week's calls of its offer would have cost. Of several for one offer, each in a pass of
 * its own, so that most catalogues need one pass.
 */
async function effectsOf(
  context: Pick<Context, 'store' | 'nowMs'>,
  proposals: readonly Proposal[],
  { stored }: CurrentProposals,
): Promise<ReadonlyMap<string, PriceEffect>> {
  const inForce = new Map([...stored.offers.values()].map(({ id, price }) => [id, price]));
  const passes: Map<string, { proposal: string; price: Price }>[] = [];
  for (const { id, offerId, price } of proposals.filter((one) => one.offerId !== null).slice(0, mostPrices)) {
    const current = inForce.get(offerId ?? '') ?? null;
    const tried = price ?? current;
    if (offerId === null || current === null || tried === null) continue;
    const pass = passes.find((one) => !one.has(offerId));
    if (pass) pass.set(offerId, { proposal: id, price: tried });
    else passes.push(new Map([[offerId, { proposal: id, price: tried }]]));
  }
  const effects = new Map<string, PriceEffect>();
  for (const pass of passes) {
    const found = await effectOf(context, new Map([...pass].map(([offerId, { price }]) => [offerId, price])));
    for (const [offerId, { proposal }] of pass) {
      const effect = found.get(offerId);
      if (effect) effects.set(proposal, effect);
    }
  }
  return effects;
}

/** For the command line. */
export function proposalsText(shown: ShownProposals): string {
  const lines = shown.tables.map(({ id, readAt, models, others, failure }) => {
    const read =
      readAt === null
        ? 'not read yet'
        : `${models} models of known providers, ${others} of others, read ${readAt}`;
    return `${id}: ${read}${failure === null ? '' : `; the latest reading failed: ${failure}`}`;
  });
  for (const { id, unknown } of shown.tables)
    for (const { field, models, example } of unknown)
      lines.push(
        `${id}: unknown field ${field} of ${models} ${models === 1 ? 'model' : 'models'}, such as ${example}`,
      );
  if (shown.unlisted.length > 0) lines.push(`not in the tables: ${shown.unlisted.join(', ')}`);
  for (const part of shown.notCompared) lines.push(`not compared: ${part}`);
  const skipped = Object.entries(shown.notProposed).filter(([, count]) => count > 0);
  if (skipped.length > 0)
    lines.push(
      `not proposed: ${skipped.map(([why, count]) => `${count} ${skippedWords[why] ?? why}`).join(', ')}`,
    );
  lines.push('');
  for (const one of shown.data) lines.push(...proposalLines(one));
  if (shown.data.length === 0) lines.push('no proposals');
  if (shown.total > shown.data.length)
    lines.push(`${shown.total - shown.data.length} more: narrow them with --kind or --provider`);
  if (shown.dismissed > 0) lines.push(`${shown.dismissed} dismissed: see them with --dismissed on`);
  return lines.join('\n');
}

function proposalLines({
  id,
  kind,
  model,
  provider,
  before,
  after,
  tables,
  others,
  warnings,
  effect,
}: ShownProposal) {
  const change = before === null ? after : `${before} → ${after}`;
  return [
    `${id} ${kind} ${model} at ${provider}: ${change} (${tables.join(', ')})`,
    ...others.map(({ table: name, says }) => `  ${name} says: ${says}`),
    ...warnings.map((warning) => `  note: ${warning}`),
    ...(effect === null ? [] : [`  ${effectText(kind, effect)}`]),
  ];
}

function effectText(
  kind: ProposalKind,
  { calls, charged, preview, difference, unpriced }: PriceEffect,
): string {
  if (calls + unpriced === 0) return 'no charged calls in the last 7 days';
  const rest = unpriced === 0 ? '' : `; ${unpriced} calls cannot be priced again`;
  const were = `${calls} calls in the last 7 days were charged $${charged}`;
  if (kind === 'retirement' || kind === 'withdrawal') return were + rest;
  const sign = difference.startsWith('-') ? '-' : '+';
  return `${were}, and would have cost $${preview} (${sign}$${difference.replace('-', '')})${rest}`;
}
