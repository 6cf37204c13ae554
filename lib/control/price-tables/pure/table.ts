import { z } from 'zod';
import { inputKinds } from '#lib/core/schemas/catalogue';
import { filePriceShape } from '#lib/core/schemas/price';

/** The public price tables that can be read, the one that counts first at the front. */
export const tableIds = ['models.dev', 'litellm'] as const;
export type TableId = (typeof tableIds)[number];

/** What a table says of one model at one provider. */
export const entryShape = z.strictObject({
  /** As `canonOf` names the provider. */
  provider: z.string(),
  upstreamModel: z.string(),
  name: z.string().nullable(),
  /** Models of which one replaces another; null: the table does not say. */
  line: z.string().nullable(),
  kind: z.enum(['text', 'embeddings', 'rerank', 'other']),
  /** Tokens; null: the table does not say. */
  contextTokens: z.int().nullable(),
  maxOutputTokens: z.int().nullable(),
  input: z.array(z.enum(inputKinds)).nullable(),
  reasoning: z.boolean(),
  /** A day or a month. */
  released: z.string().nullable(),
  /** The day on which the provider stops serving it. */
  retires: z.string().nullable(),
  /** It is deprecated, on whatever day. */
  deprecated: z.boolean(),
  /** As in a catalogue file; null: the table has no price that can be read. */
  price: filePriceShape.nullable(),
  /** Parts of its price that were not read. */
  unread: z.array(z.string()),
});
export type TableEntry = z.output<typeof entryShape>;

/** A field that the gateway does not know. */
export const unknownFieldShape = z.strictObject({
  field: z.string(),
  /** How many entries have it. */
  models: z.int().describe('Models that have it.'),
  /** The first of them. */
  example: z.string(),
});
export type UnknownField = z.output<typeof unknownFieldShape>;

export interface PriceTable {
  readonly id: TableId;
  /** Of known providers only. */
  readonly entries: readonly TableEntry[];
  readonly unknown: readonly UnknownField[];
  /** How many entries are of providers that the gateway does not know. */
  readonly others: number;
}

/** Counts fields that the gateway does not know; their number is limited, because a stranger chooses their names. */
export class UnknownFields {
  readonly #found = new Map<string, { models: number; example: string }>();

  note(field: string, model: string): void {
    const name = field.slice(0, 100).toWellFormed().replace(odd, ' ');
    const known = this.#found.get(name);
    if (known) known.models += 1;
    else if (this.#found.size < mostUnknown)
      this.#found.set(name, { models: 1, example: model.slice(0, 100).toWellFormed().replace(odd, ' ') });
  }

  list(): UnknownField[] {
    return [...this.#found].map(([field, told]) => ({ field, ...told })).sort(byModels);
  }
}

const mostUnknown = 200;
/** Control characters, line separators and what reverses the direction of text. */
const odd = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function byModels(one: UnknownField, other: UnknownField): number {
  return other.models - one.models || (one.field < other.field ? -1 : 1);
}

/** A name of a model or provider that can be stored and shown. */
export function isUsableName(text: string, most = 300): boolean {
  return text.length > 0 && text.length <= most && text.isWellFormed() && text.search(odd) < 0;
}

/** The members of an object; none of anything else. */
export function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

const largest = 2_147_483_647;

/** A positive number of tokens. */
export function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= largest ? value : null;
}

/** "2027-01-31", or with `months` also "2027-01". */
export function dayOf(value: unknown, { months = false } = {}): string | null {
  if (typeof value !== 'string') return null;
  if (months && /^\d{4}-(0[1-9]|1[0-2])$/.test(value)) return value;
  return z.iso.date().safeParse(value).success ? value : null;
}
