import type { TableId } from '#lib/control/price-tables/pure/table';

/** Where the public tables are. */
export const tableAddresses: Readonly<Record<TableId, string>> = {
  'models.dev': 'https://models.dev/api.json',
  litellm: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
};
