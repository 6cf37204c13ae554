import { notFound } from 'next/navigation';
import { getConsoleHost } from '#lib/console/db';
import { readSnippets, snippetsFor } from '#lib/console/guide/snippets';
import { modelFactsOf, offerOrders, offerRowsOf, priceTableOf, protocolsOf } from '#lib/console/models/facts';
import { readAllModels } from '#lib/console/models/list';
import { familiesOf, translatedFamiliesOf } from '#lib/console/models/rows';
import { showDay } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';
import type { ListedModel } from '#lib/control/catalogue/list';
import type { ModelPerformance } from '#lib/control/operations/catalogue/performance';

/**
 * The model that a URL names.
 * @param parts of the path after the list, as Next gives them: still encoded.
 */
export async function requireModel(parts: readonly string[]): Promise<ListedModel> {
  const id = idOfParts(parts);
  const models = await readAllModels();
  return models.find((model) => model.id === id) ?? notFound();
}

/** The slug that the encoded parts of a path name. */
export function idOfParts(parts: readonly string[]): string {
  return parts.map(decoded).join('/');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Everything that a model's page shows. @param zone IANA zone of its dates. @param sort of the offers, as in the URL. */
export async function viewModel(
  model: ListedModel,
  {
    list,
    zone,
    performance,
    sort,
  }: {
    list: string;
    zone: string;
    performance: ModelPerformance | null;
    sort: string | string[] | undefined;
  },
) {
  const snippets = await readSnippets(getConsoleHost().env.publicUrl);
  return {
    list,
    model: modelFactsOf(model, list),
    offers: sortRows(offerRowsOf(model, performance), readSort([sort].flat()[0]), offerOrders),
    retired: model.retired,
    prices: model.offers.flatMap(
      (offer) => priceTableOf(offer, (iso) => showDay(Date.parse(iso), zone)) ?? [],
    ),
    protocols: protocolsOf(model),
    snippets: snippetsFor(snippets, model.id, [...familiesOf(model), ...translatedFamiliesOf(model)]),
  };
}
