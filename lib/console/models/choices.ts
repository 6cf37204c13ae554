import { showFamily } from '#lib/console/models/family-names';
import { allModels, familiesOf, showCapability } from '#lib/console/models/rows';
import { showTokens } from '#lib/console/show/tokens';
import type { ListedModel } from '#lib/control/catalogue/list';
import { capabilities } from '#lib/control/catalogue/search';

const contexts = [32_000, 128_000, 200_000, 400_000, 1_000_000];
const inputPrices = ['0.25', '1', '3', '10'];
const outputPrices = ['1', '5', '15', '50'];

/** The options of the catalogue's filters: the values that its models have. */
export function modelChoices(models: readonly ListedModel[]) {
  const offers = models.flatMap((model) => model.offers);
  const providers = new Map(offers.map(({ provider, providerName }) => [provider, providerName]));
  return [
    {
      name: 'available',
      label: 'Availability',
      any: 'Available here',
      options: [{ value: allModels, label: 'All models' }],
    },
    {
      name: 'provider',
      label: 'Provider',
      any: 'Any provider',
      options: [...providers]
        .map(([value, label]) => ({ value, label }))
        .sort((one, other) => (one.label < other.label ? -1 : 1)),
    },
    {
      name: 'family',
      label: 'Protocol',
      any: 'Any protocol',
      options: [...new Set(models.flatMap(familiesOf))].map((value) => ({ value, label: showFamily(value) })),
    },
    {
      name: 'input',
      rare: true,
      label: 'Input',
      any: 'Any input',
      options: kinds(models, 'input').map((value) => ({ value, label: `Input: ${value}` })),
    },
    {
      name: 'output',
      rare: true,
      label: 'Output',
      any: 'Any output',
      options: kinds(models, 'output').map((value) => ({ value, label: `Output: ${value}` })),
    },
    {
      name: 'minContext',
      rare: true,
      label: 'Context',
      any: 'Any context',
      options: contexts.map((count) => ({ value: String(count), label: `Context ≥ ${showTokens(count)}` })),
    },
    {
      name: 'maxInputPrice',
      rare: true,
      label: 'Input price',
      any: 'Any input price',
      options: inputPrices.map((usd) => ({ value: usd, label: `Input ≤ $${usd}` })),
    },
    {
      name: 'maxOutputPrice',
      rare: true,
      label: 'Output price',
      any: 'Any output price',
      options: outputPrices.map((usd) => ({ value: usd, label: `Output ≤ $${usd}` })),
    },
    {
      name: 'capability',
      label: 'Capability',
      any: 'Any capability',
      options: capabilities.map((value) => ({ value, label: showCapability(value) })),
    },
  ];
}

function kinds(models: readonly ListedModel[], side: 'input' | 'output'): string[] {
  return [...new Set(models.flatMap((model) => model[side]))];
}
