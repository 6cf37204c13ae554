import { canonNamed } from '#lib/control/price-tables/pure/canon';
import { priceText } from '#lib/control/price-tables/pure/decimal';
import {
  dayOf,
  isUsableName,
  membersOf,
  type PriceTable,
  type TableEntry,
  textOf,
  tokensOf,
  UnknownFields,
} from '#lib/control/price-tables/pure/table';
import { readModelList } from '#lib/control/providers/model-list';
import { memberOf } from '#lib/core/families/reading/json';
import { inputKinds } from '#lib/core/schemas/catalogue';
import type { FilePrice } from '#lib/core/schemas/price';

/** Fields of a model that are read, or say nothing that the catalogue needs. */
const knownFields: ReadonlySet<string> = new Set([
  ...['id', 'name', 'family', 'description', 'attachment', 'reasoning', 'reasoning_options', 'tool_call'],
  ...['structured_output', 'temperature', 'interleaved', 'knowledge', 'release_date', 'last_updated'],
  ...['modalities', 'open_weights', 'cost', 'limit', 'status', 'provider', 'experimental', 'benchmarks'],
]);

/** Dollars per million tokens. */
const rates: Readonly<Record<string, keyof FilePrice>> = {
  input: 'input',
  output: 'output',
  reasoning: 'reasoning',
  cache_read: 'cachedInput',
  cache_write: 'cacheWrite5m',
  input_audio: 'audioInput',
  output_audio: 'audioOutput',
};

/** The older way to say what input above this length costs, tokens. */
const longInput = 200_000;

/** Reads models.dev's `api.json`: providers by id, each with its models by id. Pure. */
export function readModelsDev(document: unknown): PriceTable {
  const unknown = new UnknownFields();
  const entries: TableEntry[] = [];
  let others = 0;
  for (const [providerName, provider] of membersOf(document)) {
    const canon = canonNamed('models.dev', providerName);
    const models = membersOf(memberOf(provider, 'models'));
    if (canon === null) others += models.length;
    else for (const [id, model] of models) entries.push(...entryOf(canon, id, model, unknown));
  }
  return { id: 'models.dev', entries, unknown: unknown.list(), others };
}

function entryOf(provider: string, key: string, model: unknown, unknown: UnknownFields): TableEntry[] {
  const upstreamModel = textOf(memberOf(model, 'id')) ?? key;
  if (!isUsableName(upstreamModel)) return [];
  for (const [field] of membersOf(model)) if (!knownFields.has(field)) unknown.note(field, upstreamModel);
  const cost = memberOf(model, 'cost');
  const unread: string[] = [];
  const price = priceOf(cost, upstreamModel, unknown, unread);
  for (const [mode, told] of membersOf(memberOf(memberOf(model, 'experimental'), 'modes')))
    if (memberOf(told, 'cost') !== undefined) unread.push(`experimental.modes.${mode.slice(0, 40)}`);
  const name = textOf(memberOf(model, 'name'));
  const output = memberOf(memberOf(model, 'modalities'), 'output');
  const limit = memberOf(model, 'limit');
  return [
    {
      provider,
      upstreamModel,
      name: name !== null && isUsableName(name, 200) ? name : null,
      line: lineOf(memberOf(model, 'family')),
      kind: kindOf(upstreamModel, output),
      contextTokens: tokensOf(memberOf(limit, 'context')),
      maxOutputTokens: tokensOf(memberOf(limit, 'output')),
      input: inputOf(memberOf(memberOf(model, 'modalities'), 'input')),
      reasoning: memberOf(model, 'reasoning') === true,
      released: dayOf(memberOf(model, 'release_date'), { months: true }),
      retires: null,
      deprecated: memberOf(model, 'status') === 'deprecated',
      price,
      unread,
    },
  ];
}

function lineOf(family: unknown): string | null {
  const text = textOf(family);
  return text !== null && isUsableName(text, 100) ? text : null;
}

function kindOf(upstreamModel: string, output: unknown): TableEntry['kind'] {
  const named = readModelList([{ id: upstreamModel }])?.entries[0]?.kind ?? 'text';
  return named === 'text' && Array.isArray(output) && !output.includes('text') ? 'other' : named;
}

function inputOf(given: unknown): TableEntry['input'] {
  const read = Array.isArray(given) ? inputKinds.filter((kind) => given.includes(kind)) : [];
  return read.length > 0 ? read : null;
}

/** @param unread gets what could not be read. @returns null without a price of input or output. */
function priceOf(
  cost: unknown,
  model: string,
  unknown: UnknownFields,
  unread: string[],
): TableEntry['price'] {
  const read = (given: unknown, path: string, beside: readonly string[]): Record<string, string> => {
    const found: Record<string, string> = {};
    for (const [field, value] of membersOf(given)) {
      if (beside.includes(field)) continue;
      const rate = rates[field];
      const text = rate === undefined ? null : priceText(value);
      if (rate !== undefined && text !== null) found[rate] = text;
      else unread.push(`${path}${field}`.slice(0, 100));
      if (rate === undefined) unknown.note(`${path}${field}`, model);
    }
    return found;
  };
  const base = read(cost, 'cost.', ['tiers', 'context_over_200k']);
  if (base.input === undefined && base.output === undefined) return null;
  const listed = memberOf(cost, 'tiers');
  const tiers: (Record<string, string> & { aboveInputTokens?: never })[] = [];
  const bounds: number[] = [];
  const add = (above: number, given: Record<string, string>) => {
    if (Object.keys(given).length === 0 || bounds.includes(above)) return;
    bounds.push(above);
    tiers.push(given);
  };
  for (const tier of Array.isArray(listed) ? listed.slice(0, 20) : []) {
    const bound = memberOf(tier, 'tier');
    const size = tokensOf(memberOf(bound, 'size'));
    if (memberOf(bound, 'type') === 'context' && size !== null)
      add(size, read(tier, 'cost.tiers.', ['tier']));
    else unread.push('cost.tiers');
  }
  const long = memberOf(cost, 'context_over_200k');
  if (long !== undefined && bounds.length === 0) add(longInput, read(long, 'cost.context_over_200k.', []));
  const ordered = tiers
    .map((given, at) => ({ aboveInputTokens: bounds[at] ?? 0, ...given }))
    .sort((one, other) => one.aboveInputTokens - other.aboveInputTokens);
  return { ...base, ...(ordered.length > 0 && { tiers: ordered }) };
}
