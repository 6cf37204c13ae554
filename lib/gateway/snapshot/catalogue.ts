import type { Pool } from 'pg';
import { endOfDay } from '#lib/core/facts/retired';
import type {
  Catalogue,
  ModelFacts,
  OfferFacts,
  PriceVersion,
  ProviderFacts,
} from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';
import { isUnpriced, parsePrice } from '#lib/core/schemas/price';
import { type CatalogueSources, type ProviderRow, providerOf } from '#lib/gateway/snapshot/provider';

const providerRows =
  'SELECT id, name, families, credential, credential_headers, on_disconnect, prices_from FROM provider ORDER BY id';
const modelRows = `
  SELECT id, name, aliases, context_tokens, max_output_tokens, input, output, reasoning, released, created_at
  FROM model ORDER BY created_at, id`;
/** Each offer in force with the newest price that is effective now. */
const offerRows = `
  SELECT o.id, o.model_id, o.provider_id, o.upstream_model, o.families, o.output_budget_field,
    o.stream_usage, o.stream_end, o.deny_betas, coalesce(o.retires, m.retires) AS retires, v.id AS price_id, v.price, v.effective_at
  FROM offer o JOIN model m ON m.id = o.model_id LEFT JOIN LATERAL (
    SELECT id, price, effective_at FROM price_version WHERE offer_id = o.id AND effective_at <= now()
    ORDER BY effective_at DESC, created_at DESC, id DESC LIMIT 1
  ) v ON true
  WHERE o.withdrawn_at IS NULL ORDER BY o.model_id, o.position, o.provider_id`;

/**
 * The catalogue in force: addresses and credentials resolved, sealed values opened, prices effective
 * now, withdrawn offers left out. @throws when the database cannot answer.
 */
export async function loadCatalogue(pool: Pool, sources: CatalogueSources): Promise<Catalogue> {
  const client = await pool.connect();
  try {
    // One view for three statements: an apply that commits between them is seen whole or not at all.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const found = {
      providers: (await client.query<ProviderRow>(providerRows)).rows,
      models: (await client.query<ModelRow>(modelRows)).rows,
      offers: (await client.query<OfferRow>(offerRows)).rows,
    };
    await client.query('COMMIT');
    client.release();
    return assembleCatalogue(found, sources);
  } catch (error) {
    client.release(true);
    throw error;
  }
}

interface ModelRow {
  id: string;
  name: string;
  aliases: string[] | null;
  context_tokens: number;
  max_output_tokens: number;
  input: string[] | null;
  output: string[] | null;
  reasoning: boolean;
  released: string | null;
  created_at: Date;
}

interface OfferRow {
  id: string;
  model_id: string;
  provider_id: string;
  upstream_model: string;
  families: FamilyId[] | null;
  output_budget_field: string | null;
  stream_usage: string | null;
  stream_end: string | null;
  deny_betas: string[] | null;
  retires: string | null;
  price_id: string | null;
  price: unknown;
  effective_at: Date | null;
}

function assembleCatalogue(
  found: { providers: ProviderRow[]; models: ModelRow[]; offers: OfferRow[] },
  sources: CatalogueSources,
): Catalogue {
  const providers = new Map(found.providers.map((row) => [row.id, providerOf(row, sources)]));
  const offers = new Map<string, OfferFacts[]>();
  for (const row of found.offers) {
    const provider = providers.get(row.provider_id);
    if (provider === undefined) continue;
    const listed = offers.get(row.model_id) ?? [];
    listed.push(offerOf(row, provider, sources));
    offers.set(row.model_id, listed);
  }
  const models = new Map(found.models.map((row) => [row.id, modelOf(row, offers.get(row.id) ?? [])]));
  return { models, providers };
}

function modelOf(row: ModelRow, offers: readonly OfferFacts[]): ModelFacts {
  return {
    id: row.id,
    name: row.name,
    aliases: row.aliases ?? [],
    contextTokens: row.context_tokens,
    maxOutputTokens: row.max_output_tokens,
    input: row.input ?? [],
    output: row.output ?? [],
    reasoning: row.reasoning,
    createdAtMs: row.created_at.getTime(),
    released: row.released,
    offers,
  };
}

function offerOf(row: OfferRow, provider: ProviderFacts, sources: CatalogueSources): OfferFacts {
  const budget = row.output_budget_field;
  return {
    id: row.id,
    modelId: row.model_id,
    provider,
    upstreamModel: row.upstream_model,
    families: new Set(row.families ?? []),
    price: priceOf(row, sources),
    outputBudgetField: budget === 'max_tokens' || budget === 'max_completion_tokens' ? budget : null,
    streamUsage: row.stream_usage === 'never' ? 'never' : null,
    streamEnd: row.stream_end === 'none' ? 'none' : null,
    denyBetas: row.deny_betas ?? [],
    servedUntilMs: row.retires === null ? null : endOfDay(row.retires),
  };
}

function priceOf(row: OfferRow, sources: CatalogueSources): PriceVersion | null {
  const { price_id: id, effective_at: effectiveAt } = row;
  if (id === null || effectiveAt === null) return null;
  try {
    const price = parsePrice(row.price);
    return isUnpriced(price) ? null : { id, price, effectiveAtMs: effectiveAt.getTime() };
  } catch (error) {
    sources.report?.(error);
    return null;
  }
}
