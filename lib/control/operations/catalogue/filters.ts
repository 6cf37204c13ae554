import { capabilities } from '#lib/control/catalogue/search';
import { allOptional } from '#lib/control/operations/field/field';
import { allowance, choice, count, toggle, words } from '#lib/control/operations/field/kinds';
import { familyIds } from '#lib/core/families/ids';
import { inputKinds, outputKinds } from '#lib/core/schemas/catalogue';

const price = { unit: 'USD', placeholder: 'USD' };

/** Filters of the list of models: on the command line, at `/api/v1/models` and on the page. */
export const modelFilters = allOptional({
  search: words(
    { label: 'Search', help: 'In names, slugs and aliases.', flag: 'search', example: 'gpt' },
    200,
  ),
  provider: words(
    { label: 'Provider', help: 'Models with an offer of this provider.', example: 'openai' },
    100,
  ),
  family: choice({ label: 'Protocol', help: 'Models with an offer in this protocol.' }, familyIds),
  input: choice({ label: 'Input', help: 'Models that accept this input.' }, inputKinds),
  output: choice({ label: 'Output', help: 'Models that produce this output.' }, outputKinds),
  minContext: count(
    { label: 'Context', help: 'Minimum, in tokens.', unit: 'tokens', example: 200_000 },
    { min: 0, max: 2_147_483_647 },
  ),
  maxInputPrice: allowance({
    ...price,
    label: 'Max input price',
    help: 'Dollars per million tokens.',
    example: '5',
  }),
  maxOutputPrice: allowance({
    ...price,
    label: 'Max output price',
    help: 'Dollars per million tokens.',
    example: '20',
  }),
  capability: choice({ label: 'Capability', help: 'Another property of the model.' }, capabilities),
  available: toggle({
    label: 'Available',
    help: 'Models with an offer that can be called now.',
    example: true,
  }),
});
