import { capabilities } from '#lib/control/catalogue/search';
import { optional } from '#lib/control/operations/field/field';
import { allowance, choice, count, toggle, words } from '#lib/control/operations/field/kinds';
import { familyIds } from '#lib/core/families/ids';

const modalities = ['text', 'image', 'audio', 'video', 'pdf', 'file'] as const;
const price = { unit: 'USD', placeholder: 'USD' };

/** What a list of models may be narrowed by: on the command line, at `/api/v1/models` and on the page. */
export const modelFilters = {
  search: optional(
    words(
      { label: 'Search', help: 'In the name, the slug and the aliases.', flag: 'search', example: 'gpt' },
      200,
    ),
  ),
  provider: optional(
    words({ label: 'Provider', help: 'With an offer of this one.', example: 'openai' }, 100),
  ),
  family: optional(choice({ label: 'Protocol', help: 'With an offer that speaks it.' }, familyIds)),
  input: optional(choice({ label: 'Input', help: 'What it must read.' }, modalities)),
  output: optional(choice({ label: 'Output', help: 'What it must write.' }, modalities)),
  minContext: optional(
    count(
      { label: 'Context', help: 'The least, in tokens.', unit: 'tokens', example: 200_000 },
      { min: 0, max: 2_147_483_647 },
    ),
  ),
  maxInputPrice: optional(
    allowance({ ...price, label: 'Max input price', help: 'Dollars per million tokens.', example: '5' }),
  ),
  maxOutputPrice: optional(
    allowance({ ...price, label: 'Max output price', help: 'Dollars per million tokens.', example: '20' }),
  ),
  capability: optional(choice({ label: 'Capability', help: 'What else is known of it.' }, capabilities)),
  available: optional(
    toggle({ label: 'Available', help: 'With an offer that can be called now.', example: true }),
  ),
};
