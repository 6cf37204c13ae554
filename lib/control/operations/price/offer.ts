import type { Context } from '#lib/control/operations/declare';
import { document, words } from '#lib/control/operations/field/kinds';
import { notFound, quoted } from '#lib/control/operations/refusal';
import { filePriceShape } from '#lib/core/schemas/price';

/** An offer, and a price for it. */
export const offerFields = {
  model: words(
    { label: 'Model', help: 'Slug of the model.', placeholder: 'ID', example: 'openai/gpt-4.1' },
    200,
  ),
  provider: words(
    { label: 'Provider', help: 'Id of the provider.', placeholder: 'ID', example: 'openai' },
    64,
  ),
  price: document(
    {
      label: 'Price',
      help: 'As in a catalogue file: dollars as decimal strings.',
      placeholder: 'FILE',
      example: { input: '2', output: '8' },
    },
    filePriceShape,
  ),
};

/** @throws ControlRefused not_found. */
export async function offerOf({ store }: Pick<Context, 'store'>, modelId: string, providerId: string) {
  const where = { modelId_providerId: { modelId, providerId } };
  const offer = await store.prisma.offer.findUnique({ where, select: { id: true, withdrawnAt: true } });
  if (offer) return offer;
  throw noOffer(modelId, providerId);
}

export function noOffer(modelId: string, providerId?: string) {
  const where = providerId === undefined ? '' : ` at ${quoted(providerId)}`;
  return notFound(
    `there is no offer of ${quoted(modelId)}${where}; "gateway catalogue list" shows all offers`,
    'model',
  );
}
