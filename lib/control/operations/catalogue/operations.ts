import { z } from 'zod';
import { type ListedModel, listModels } from '#lib/control/catalogue/list';
import { findModels } from '#lib/control/catalogue/search';
import { acceptProposals, dismissProposals } from '#lib/control/operations/catalogue/accept';
import { applyCatalogue, takeOverNews } from '#lib/control/operations/catalogue/apply';
import { compareCatalogueOperation } from '#lib/control/operations/catalogue/compare';
import { exportCatalogueOperation } from '#lib/control/operations/catalogue/export';
import { modelFilters } from '#lib/control/operations/catalogue/filters';
import { modelPerformance } from '#lib/control/operations/catalogue/performance';
import { modelPage, shownModel, textOf } from '#lib/control/operations/catalogue/shown';
import { listProposals, setDailyUpdate, updateCatalogue } from '#lib/control/operations/catalogue/update';
import { read } from '#lib/control/operations/declare';
import { words } from '#lib/control/operations/field/kinds';
import { mostRows, pagingBy } from '#lib/control/operations/field/paging';
import { readTests, type Tested } from '#lib/control/operations/provider/tested';
import { notFound, quoted } from '#lib/control/operations/refusal';
import { listRoutable } from '#lib/gateway/routing/pure/exclude';

export const listCatalogue = read({
  name: 'model.list',
  summary: 'Lists the models of the catalogue with their offers and prices, by id.',
  reach: 'self',
  permission: null,
  fields: { ...modelFilters, ...pagingBy(mostRows) },
  output: modelPage,
  http: [{ method: 'GET', path: '/models' }],
  line: { command: 'catalogue list' },
  text: textOf,
  run: async (context, { limit = mostRows, after = '', ...filters }) => {
    const found = findModels(listModels(await context.catalogue(), context.nowMs), filters);
    const models = found.filter(({ id }) => id > after);
    const data = models.slice(0, limit);
    return { data, next: models.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
});

const showModel = read({
  name: 'model.show',
  summary: 'Shows a model of the catalogue with its offers and all their prices.',
  reach: 'self',
  permission: null,
  fields: {
    model: words({ label: 'Model', help: 'Its slug.', placeholder: 'ID', example: 'openai/gpt-4.1' }, 200),
  },
  output: shownModel,
  http: [{ method: 'GET', path: '/models/{model}' }],
  run: async (context, { model }) => {
    const found = listModels(await context.catalogue(), context.nowMs).find(({ id }) => id === model);
    if (found) return found;
    throw notFound(`there is no model ${quoted(model)}; GET /api/v1/models lists them`, 'model');
  },
});

/** For choices of models and providers, and for an example that works as pasted. */
export const listModelNames = read({
  name: 'model.names',
  summary:
    'Lists the ids of all providers, of all models with an offer in service, and of one model that chat calls can use.',
  reach: 'self',
  permission: null,
  output: z.object({
    data: z.array(z.string()),
    providers: z.array(z.string()),
    offered: z
      .array(z.object({ id: z.string(), name: z.string(), models: z.array(z.string()) }))
      .describe('The providers with an offer in service, by name, and the models that they offer.'),
    example: z.string().nullable(),
  }),
  run: async (context) => {
    const catalogue = await context.catalogue();
    const models = listModels(catalogue, context.nowMs);
    const routable = listRoutable(catalogue, 'chat', context.nowMs);
    const spoken = models.filter(({ offers }) =>
      offers.some(({ families, price }) => families.includes('chat') && price !== null),
    );
    const failing = failingProviders(await readTests(context.store));
    const works = ({ offers }: ListedModel) => offers.some(({ provider }) => !failing.has(provider));
    const callable = spoken.filter(({ id }) => routable.has(id));
    const example = callable.find(works) ?? callable[0] ?? spoken[0] ?? null;
    const providers = [...catalogue.providers.keys()].sort();
    const data = models.filter(({ offers }) => offers.length > 0).map(({ id }) => id);
    return { data, providers, offered: offeredBy(models), example: example?.id ?? null };
  },
});

/** Providers of which every tested credential failed its latest test. */
function failingProviders(tests: readonly Tested[]): ReadonlySet<string> {
  const failing = new Set(tests.map(({ provider }) => provider));
  for (const { provider, failure } of tests) if (failure === null) failing.delete(provider);
  return failing;
}

function offeredBy(models: readonly ListedModel[]) {
  const found = new Map<string, { id: string; name: string; models: string[] }>();
  for (const { id: model, offers } of models) {
    for (const { provider: id, providerName: name } of offers) {
      const one = found.get(id) ?? { id, name, models: [] };
      found.set(id, one);
      if (one.models.at(-1) !== model) one.models.push(model);
    }
  }
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name, 'en'));
}

export const catalogueOperations = [
  applyCatalogue,
  compareCatalogueOperation,
  exportCatalogueOperation,
  takeOverNews,
  updateCatalogue,
  listProposals,
  acceptProposals,
  dismissProposals,
  setDailyUpdate,
  listCatalogue,
  showModel,
  listModelNames,
  modelPerformance,
];
