import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { priceText } from '#lib/control/catalogue/difference';
import { type Context, change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { id as idField, isUuid, time } from '#lib/control/operations/field/kinds';
import { offerFields, offerOf } from '#lib/control/operations/price/offer';
import { badInput, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { isUnpriced, parsePrice, readFilePrice, storePrice } from '#lib/core/schemas/price';
import { newRowId } from '#lib/platform/data/row-id';

/** No other change of a price may run meanwhile, neither from files nor from a page. */
const transaction = { waitMs: 5_000, limitMs: 30_000, table: 'provider' } as const;
/** Longer than a transaction takes, so that a withdrawn price was not in force anywhere. */
const settledMs = 60_000;

const answer = z.object({
  id: z.uuid().describe('The "priceVersion" of calls.'),
  model: z.string(),
  provider: z.string(),
  text: z.string().describe('The price as text.'),
  effectiveAt: z.iso.datetime().describe('In force for calls admitted from then on.'),
});

export const setPrice = change({
  name: 'price.set',
  summary: 'Sets the price of an offer, from now on or from a time in the future; earlier calls keep theirs.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction,
  fields: {
    ...offerFields,
    effectiveAt: optional(
      time({
        label: 'In force from',
        help: 'Default: now.',
        flag: 'from',
        example: '2199-01-31T00:00:00Z',
      }),
    ),
    replaces: optional(
      idField({
        label: 'Replaces',
        help: 'Id of the price version to replace; if another one is in force, the change is refused.',
      }),
    ),
  },
  output: answer,
  http: [{ method: 'POST', path: '/prices' }],
  line: { arguments: ['model', 'provider', 'price'] },
  text: ({ model, provider, text, effectiveAt }) =>
    `${model} at ${provider} costs ${text} from ${effectiveAt} on`,
  run: async (context, { model, provider, price, effectiveAt = null, replaces }) => {
    const { store } = context;
    const offer = await offerOf(context, model, provider);
    if (offer.withdrawnAt !== null)
      throw conflict('this offer is withdrawn; apply a catalogue file that offers it', 'provider');
    const wanted = readFilePrice(price);
    if (isUnpriced(wanted))
      throw badInput(
        'price',
        'a price needs a rate, such as "input"; to withdraw an offer, use a catalogue file',
      );
    const { now, inForce } = await priceInForce(context, offer.id);
    if (replaces !== undefined && replaces !== inForce?.id)
      throw conflict('another price is now in force; check it, then set yours', 'replaces');
    const at = effectiveAt ?? now;
    if (effectiveAt !== null && effectiveAt <= now)
      throw badInput(
        'effectiveAt',
        'must be in the future, because earlier calls keep their price; choose a later time, or none',
      );
    const told = { model, provider, text: priceText(wanted) };
    const subject = `offer ${model} at ${provider}`;
    const stored = storePrice(wanted);
    if (effectiveAt === null && inForce && isDeepStrictEqual(parsePrice(inForce.price), wanted)) {
      const result = { id: inForce.id, ...told, effectiveAt: inForce.effectiveAt.toISOString() };
      return { result, subject, before: {}, after: {} };
    }
    if (effectiveAt !== null) await refuseSameMoment(context, offer.id, effectiveAt);
    const id = newRowId();
    await store.prisma.priceVersion.create({
      data: { id, offerId: offer.id, price: stored, effectiveAt: at, createdAt: now },
    });
    return {
      result: { id, ...told, effectiveAt: at.toISOString() },
      subject,
      before: { price: inForce?.price ?? null, effectiveAt: inForce?.effectiveAt.toISOString() ?? null },
      after: { price: stored, effectiveAt: at.toISOString() },
      changes: [{ kind: 'catalogue', subject: '' }],
    };
  },
});

export const withdrawPrice = change({
  name: 'price.withdraw',
  summary: 'Withdraws a price that is not in force yet; the current one stays in force.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction,
  fields: { id: idField({ label: 'Price version', help: 'Id of the price version.' }) },
  output: answer,
  http: [{ method: 'DELETE', path: '/prices/{id}' }],
  line: { arguments: ['id'] },
  text: ({ model, provider, text }) => `${model} at ${provider} will not cost ${text}`,
  run: async (context, { id }) => {
    const { store } = context;
    const version = isUuid(id)
      ? await store.prisma.priceVersion.findUnique({ where: { id }, include: { offer: true } })
      : null;
    if (!version)
      throw notFound(`there is no price version ${quoted(id)}; "gateway price list" shows all versions`);
    const { effectiveAt, price, offer } = version;
    if (effectiveAt.getTime() < (await databaseNow(context)).getTime() + settledMs)
      throw conflict(
        'this price is in force, or will be within a minute, and calls may use it; set another price instead',
      );
    await store.prisma.priceVersion.delete({ where: { id } });
    const dated = effectiveAt.toISOString();
    const { modelId: model, providerId: provider } = offer;
    return {
      result: { id, model, provider, text: priceText(parsePrice(price)), effectiveAt: dated },
      subject: `offer ${model} at ${provider}`,
      before: { price, effectiveAt: dated },
      after: null,
      changes: [{ kind: 'catalogue', subject: '' }],
    };
  },
});

/** By the database's clock, by which prices are dated. */
async function databaseNow({ store }: Pick<Context, 'store'>): Promise<Date> {
  const [row] = await store.query<{ ms: string }>(
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS ms',
    [],
  );
  return new Date(Number(row?.ms));
}

async function priceInForce(context: Pick<Context, 'store'>, offerId: string) {
  const now = await databaseNow(context);
  const inForce = await context.store.prisma.priceVersion.findFirst({
    where: { offerId, effectiveAt: { lte: now } },
    orderBy: [{ effectiveAt: 'desc' }, { createdAt: 'desc' }, { id: 'desc' }],
  });
  return { now, inForce };
}

async function refuseSameMoment({ store }: Pick<Context, 'store'>, offerId: string, effectiveAt: Date) {
  if ((await store.prisma.priceVersion.count({ where: { offerId, effectiveAt } })) === 0) return;
  throw conflict(
    'there is already a price for this time; withdraw it, or choose another time',
    'effectiveAt',
  );
}
