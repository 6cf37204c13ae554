import { familiesOf, modelRowOf, translatedFamiliesOf } from '#lib/console/models/rows';
import { isPlaygroundFamily, type PlaygroundFamily } from '#lib/console/playground/draft';
import type { ListedModel } from '#lib/control/catalogue/list';
import { isCallable, isFault, sortModels } from '#lib/control/catalogue/search';

/** A model that can be called here. */
export interface PlaygroundModel {
  readonly id: string;
  /** The protocols of its offers, in the order of the catalogue, then those that are translated. */
  readonly families: readonly PlaygroundFamily[];
  readonly translated: readonly PlaygroundFamily[];
  readonly input: readonly string[];
  readonly output: readonly string[];
  /** "$1.00 in, $4.00 out per million tokens"; null: priced in another way. */
  readonly price: string | null;
  /** It simulates a fault. */
  readonly fault: boolean;
}

/** The models of the playground, by vendor and name, with simulated faults at the end. Pure. */
export function playgroundModels(models: readonly ListedModel[]): PlaygroundModel[] {
  return sortModels(models.filter(isCallable), null)
    .map((model) => {
      const { id, input, output } = model;
      const offers = model.offers.filter(({ available }) => available);
      const translated = translatedFamiliesOf({ offers, output }).filter(isPlaygroundFamily);
      const native = familiesOf({ offers }).filter(isPlaygroundFamily);
      return {
        id,
        input,
        output,
        families: [...native, ...translated],
        translated,
        price: priceOf({ ...model, offers }),
        fault: isFault(id),
      };
    })
    .filter(({ families }) => families.length > 0);
}

/** The price of the cheapest offer; with "from" if routing may choose another one. */
function priceOf(model: ListedModel): string | null {
  const { input, output } = modelRowOf(model, '');
  if (output === null && input === null) return null;
  const price =
    output === null
      ? `${input} per million tokens`
      : input === null
        ? output
        : `${input} in, ${output} out per million tokens`;
  return model.offers.length > 1 ? `from ${price}` : price;
}
