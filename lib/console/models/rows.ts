import { showFamily } from '#lib/console/models/family-names';
import { showDate } from '#lib/console/show/time';
import { showTokens } from '#lib/console/show/tokens';
import type { ListedModel, ListedOffer } from '#lib/control/catalogue/list';
import { type Capability, capabilitiesOf, isCallable, lowestPrice } from '#lib/control/catalogue/search';
import { showMoney } from '#lib/core/show-money';
import { translatedProtocols } from '#lib/gateway/routing/pure/translate';

/** In the address, for `available`: also the models that cannot be called here. */
export const allModels = 'all';

const capabilityNames: Record<Capability, string> = {
  tools: 'Tools',
  'structured-output': 'Structured output',
  reasoning: 'Reasoning',
  caching: 'Prompt caching',
  'web-search': 'Web search',
  'service-tiers': 'Service tiers',
  free: 'Free',
};

export function showCapability(name: Capability): string {
  return capabilityNames[name];
}

/**
 * The URL of a model's page below a list of models; the slug's slashes stay, because each separates two path
 * segments.
 */
export function modelHref(list: string, id: string): string {
  return `${list}/${id.split('/').map(encodeURIComponent).join('/')}`;
}

/** A row of the table of models, formatted. */
export function modelRowOf(model: ListedModel, list: string) {
  const [input, output] = [lowestPrice(model, 'input'), lowestPrice(model, 'output')];
  return {
    id: model.id,
    name: model.name,
    href: modelHref(list, model.id),
    context: model.contextTokens > 0 ? showTokens(model.contextTokens) : null,
    maxOutput: model.maxOutputTokens > 0 ? showTokens(model.maxOutputTokens) : null,
    input: input === null ? null : showPrice(input),
    output: output === null ? piecePrice(model) : showPrice(output),
    reads: model.input.join(', '),
    writes: model.output.join(', '),
    families: familiesOf(model).map(showFamily),
    translated: translatedFamiliesOf(model).map(showFamily),
    providers: model.offers.map(({ providerName }) => providerName),
    capabilities: capabilitiesOf(model).map(showCapability),
    released: model.released === null ? null : showDate(model.released),
    retires: model.retires === null ? null : showDate(model.retires),
    /** No provider serves it any more. */
    retired: model.offers.length === 0,
    callable: isCallable(model),
  };
}
export type ModelRow = ReturnType<typeof modelRowOf>;

/** The protocols of all its offers, without repeats. */
export function familiesOf({ offers }: Pick<ListedModel, 'offers'>): string[] {
  return [...new Set(offers.flatMap(({ families }) => families))];
}

/** The protocols in which its calls are translated, because none of its offers speaks them. */
export function translatedFamiliesOf(model: Pick<ListedModel, 'offers' | 'output'>): readonly string[] {
  return translatedProtocols(familiesOf(model), model.output);
}

/** "$2.50"; "Free" for nothing. */
export function showPrice(usd: string): string {
  return Number(usd) === 0 ? 'Free' : showMoney(usd);
}

const pieceNames: Record<string, string> = {
  image: 'an image',
  videoSecond: 'a second',
  characters: 'per 1M characters',
  audioMs: 'an hour',
  request: 'a request',
};

/** The price of a model that is priced by the piece: "$0.01 to $0.20 an image"; null: it is not. */
function piecePrice({ offers }: ListedModel): string | null {
  const rates = offers.flatMap(({ price }) => price?.bands[0]?.rates ?? []);
  const found = rates.find((rate) => rate.class in pieceNames)?.class;
  const prices = rates
    .filter((rate) => rate.class === found)
    .map(({ usd }) => usd)
    .sort((one, other) => Number(one) - Number(other));
  const [least, most] = [prices[0], prices.at(-1)];
  if (found === undefined || least === undefined || most === undefined) return null;
  const range = least === most ? showPrice(least) : `${showPrice(least)} to ${showPrice(most)}`;
  return `${range} ${pieceNames[found]}`;
}

/** Whether an offer can be called, in words that do not reveal the gateway's setup. */
export function showAvailability({ available, price }: ListedOffer): { text: string; why: string } {
  if (available) return { text: 'Available', why: 'Calls can use this offer.' };
  return price === null
    ? { text: 'Unpriced', why: 'This offer has no price, so it gets no calls.' }
    : { text: 'Not set up', why: 'This provider is not set up on this gateway.' };
}
