import { z } from 'zod';
import { applyWithin } from '#lib/control/catalogue/apply';
import { offerEntry } from '#lib/control/catalogue/news';
import { currentProposals } from '#lib/control/operations/catalogue/shown-proposals';
import { change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { toggle, wordList } from '#lib/control/operations/field/kinds';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { acceptedFile, contradiction } from '#lib/control/price-tables/pure/accept';
import type { Proposal } from '#lib/control/price-tables/pure/propose';
import { FileRefused } from '#lib/core/schemas/document';
import { newRowId } from '#lib/platform/data/row-id';

/** As files are applied: two at once would both see a price as new. */
const transaction = { waitMs: 30_000, limitMs: 60_000, table: 'provider' } as const;

const ids = wordList({
  label: 'Proposals',
  help: 'Ids of proposals, separated by commas.',
  placeholder: 'ID,ID',
  example: ['0123456789abcdef'],
});

/** In the transaction that compared them again, so that what is accepted is what was shown. */
export const acceptProposals = change({
  name: 'catalogue.accept',
  summary:
    'Accepts proposals of the price tables, all of them or none; a changed price becomes a new version.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction,
  fields: { proposals: ids },
  output: z.object({
    changes: z.array(z.string()).describe('One line for each model or offer that changed.'),
  }),
  http: [{ method: 'POST', path: '/catalogue/proposals/accept' }],
  line: { arguments: ['proposals'] },
  text: ({ changes }) => changes.join('\n'),
  run: async ({ store }, { proposals: wanted }) => {
    const current = await currentProposals(store);
    const chosen = chosenOf(current.proposals, wanted);
    const clash = contradiction(chosen);
    if (clash)
      throw conflict(
        `${clash[0].id} and ${clash[1].id} both change ${clash[0].model} at ${clash[0].provider}; accept one of them`,
        'proposals',
      );
    try {
      const { set, withdrawn } = acceptedFile(current.stored, chosen);
      const options = { sealingKey: null, newId: newRowId, order: 'stored' as const };
      const { changes, trail } = await applyWithin(store.prisma, set, options);
      await store.prisma.offer.updateMany({
        where: { id: { in: withdrawn.map(({ id }) => id) } },
        data: { withdrawnAt: new Date() },
      });
      const entries = withdrawn.map(({ modelId, providerId }) => offerEntry(modelId, providerId));
      const states = (is: boolean) => Object.fromEntries(entries.map((entry) => [entry, { withdrawn: is }]));
      return {
        result: {
          changes: [
            ...changes,
            ...withdrawn.map(({ modelId, providerId }) => `- offer ${modelId} at ${providerId}: withdrawn`),
          ],
        },
        subject: 'catalogue',
        before: { ...trail.before, ...states(false) },
        after: { ...trail.after, ...states(true) },
        detail: { tables: [...new Set(chosen.flatMap(({ tables }) => tables))] },
        changes: [{ kind: 'catalogue', subject: '' }],
      };
    } catch (error) {
      throw error instanceof FileRefused
        ? conflict(error.faults[0]?.message ?? error.message, 'proposals')
        : error;
    }
  },
});

/** @throws ControlRefused if one is not there any more, or never was. */
function chosenOf(proposals: readonly Proposal[], wanted: readonly string[]): Proposal[] {
  const asked = [...new Set(wanted)];
  if (asked.length === 0) throw badInput('proposals', 'name at least one proposal');
  const chosen = asked.flatMap((id) => proposals.find((one) => one.id === id) ?? []);
  const gone = asked.length - chosen.length;
  if (gone === 0) return chosen;
  const which = asked.length === 1 ? 'this proposal is' : `${gone} of these ${asked.length} proposals are`;
  throw conflict(
    `${which} no longer current: the catalogue or a price table has changed since, perhaps because someone else accepted it; nothing was changed; reload the proposals`,
    'proposals',
  );
}

export const dismissProposals = change({
  name: 'catalogue.dismiss',
  summary: 'Hides proposals until what they propose, or what is in force, changes; or shows them again.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    proposals: ids,
    undo: optional(toggle({ label: 'Undo', help: 'Shows them again.', example: false })),
  },
  output: z.object({ dismissed: z.array(z.string()), shown: z.array(z.string()) }),
  http: [{ method: 'POST', path: '/catalogue/proposals/dismiss' }],
  line: { arguments: ['proposals'] },
  text: ({ dismissed, shown }) =>
    dismissed.length + shown.length === 0
      ? 'no change'
      : shown.length > 0
        ? `shown again: ${shown.join(', ')}`
        : `dismissed: ${dismissed.join(', ')}`,
  run: async ({ store }, { proposals: wanted, undo = false }) => {
    const current = await currentProposals(store);
    const chosen = chosenOf(current.proposals, wanted).map(({ id }) => id);
    const changed = chosen.filter((id) => current.dismissed.has(id) === undo);
    if (undo) await store.prisma.dismissedProposal.deleteMany({ where: { id: { in: changed } } });
    else
      await store.prisma.dismissedProposal.createMany({
        data: changed.map((id) => ({ id })),
        skipDuplicates: true,
      });
    const states = (is: boolean) =>
      Object.fromEntries(
        current.proposals
          .filter(({ id }) => changed.includes(id))
          .map(({ id, kind, model, provider }) => [`${kind} ${model} ${provider} ${id}`, { dismissed: is }]),
      );
    return {
      result: undo ? { dismissed: [], shown: changed } : { dismissed: changed, shown: [] },
      subject: 'catalogue',
      before: states(undo),
      after: states(!undo),
    };
  },
});
