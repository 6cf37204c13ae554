import { joinCatalogues } from '#lib/control/catalogue/files';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { readDocument } from '#lib/core/schemas/document';
import { applySet } from '#tests/support/provider/apply-set';
import type { Stack } from '#tests/support/stack';

const families = ['chat', 'responses', 'messages', 'generate-content'];
const price = { input: '1', output: '4' };

/** Where the offers of a model lead, in order, by the names of their providers. */
export type Places = Readonly<Record<string, string>>;

/** Enters models of text in every family, each with one offer at each of `places`, at the usual rates. */
export async function offerAll(
  stack: Pick<Stack, 'db'> & { announce(): Promise<unknown> },
  places: Places,
  models: readonly string[],
): Promise<void> {
  const file = {
    providers: Object.entries(places).map(([id, address]) => ({
      id,
      name: id,
      families: Object.fromEntries(families.map((family) => [family, address])),
      credential: { env: 'SANDBOX_KEY' },
      onDisconnect: 'abort',
    })),
    models: models.map((id) => ({
      id,
      name: id,
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
      input: ['text'],
      output: ['text'],
      offers: Object.keys(places).map((provider) => ({
        provider,
        upstreamModel: 'echo',
        families,
        price,
      })),
    })),
  };
  const read = readDocument('tests/gateway/after-headers', JSON.stringify(file), catalogueShape);
  await applySet(stack.db, joinCatalogues([read]));
  await stack.announce();
}
