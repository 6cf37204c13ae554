import { readLitellm } from '#lib/control/price-tables/pure/litellm';
import { readModelsDev } from '#lib/control/price-tables/pure/models-dev';
import { membersOf, type PriceTable } from '#lib/control/price-tables/pure/table';
import { memberOf } from '#lib/core/families/reading/json';
import { filePriceShape } from '#lib/core/schemas/price';

/** The most bytes of a table; those of today have 1 to 3 MB. */
export const mostTableBytes = 16 * 1024 * 1024;
/** The most entries of known providers. */
const mostEntries = 20_000;

/** Why a text is no price table, in words that follow its name. */
export class NoTable extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'NoTable';
  }
}

/**
 * Reads a price table of either form; which one it is, its contents say (contract: control-plane/price-tables). Pure.
 * @throws NoTable.
 */
export function readTable(text: string): PriceTable {
  if (Buffer.byteLength(text) > mostTableBytes)
    throw new NoTable(`is larger than ${mostTableBytes / 1024 / 1024} MiB, so it was not read`);
  const document = parsed(text);
  const members = membersOf(document);
  const some = members.slice(0, 50);
  const table = some.some(([, one]) => typeof memberOf(one, 'models') === 'object')
    ? readModelsDev(document)
    : some.some(([, one]) => typeof memberOf(one, 'litellm_provider') === 'string')
      ? readLitellm(document)
      : null;
  if (table === null)
    throw new NoTable(
      'is JSON, but neither models.dev’s api.json nor LiteLLM’s model_prices_and_context_window.json; check the address or the file',
    );
  if (table.entries.length > mostEntries)
    throw new NoTable(
      `has more than ${mostEntries} models of known providers, so it is not what it should be`,
    );
  if (table.entries.every(({ price }) => price === null))
    throw new NoTable('has no price of a known provider; its form has probably changed, so it was not used');
  return { ...table, entries: table.entries.map(checked) };
}

/** Prices are checked by the schema of files; one that it refuses is not used. */
function checked(entry: PriceTable['entries'][number]): PriceTable['entries'][number] {
  if (entry.price === null) return entry;
  const read = filePriceShape.safeParse(entry.price);
  return read.success ? entry : { ...entry, price: null, unread: [...entry.unread, 'the whole price'] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const start = text.trimStart();
    if (start === '') throw new NoTable('is empty');
    if (start.startsWith('<')) throw new NoTable('is a web page, not a table in JSON; check the address');
    throw new NoTable('is not valid JSON; it is damaged or cut off, or it is another kind of file');
  }
}
