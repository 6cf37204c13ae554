import type { ListedModel } from '#lib/catalogue/list';
import { isCallable, sortModels } from '#lib/catalogue/search';
import { isPlaygroundFamily, type PlaygroundFamily } from '#lib/console/playground/draft';

/** A model that can be called here. */
export interface PlaygroundModel {
  readonly id: string;
  /** The protocols of its offers, in the catalogue's order. */
  readonly families: readonly PlaygroundFamily[];
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** What the playground has to choose from, by vendor and name. Pure. */
export function playgroundModels(models: readonly ListedModel[]): PlaygroundModel[] {
  return sortModels(models.filter(isCallable), null)
    .map(({ id, input, output, offers }) => {
      const spoken = offers.filter(({ available }) => available).flatMap(({ families }) => families);
      return { id, input, output, families: [...new Set(spoken)].filter(isPlaygroundFamily) };
    })
    .filter(({ families }) => families.length > 0);
}
