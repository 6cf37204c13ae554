import { readFile } from 'node:fs/promises';
import { type Command, CommandRefused } from '#lib/command/command';
import { tableLines } from '#lib/command/text';
import { getWorkspaceId } from '#lib/command/workspace';
import type { Db } from '#lib/data/db';
import { isRefusal } from '#lib/errors';
import type { Ask, Family } from '#lib/families/family';
import { families } from '#lib/families/index';
import { scan } from '#lib/families/scan';
import { formatUsd } from '#lib/money';
import { plan } from '#lib/routing/plan';
import { parsePolicy } from '#lib/schemas/policy';
import { loadCatalogue } from '#lib/snapshot/catalogue';
import type { FamilyId, KeySnapshot, ModelFacts, Policy } from '#lib/snapshot/snapshot';

/** The least that each family accepts, for a plan without a body. */
const leastBody: Readonly<Record<FamilyId, object>> = {
  chat: { messages: [{ role: 'user', content: 'hello' }] },
  responses: { input: 'hello' },
  messages: { max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] },
  images: { prompt: 'hello' },
  videos: { prompt: 'hello' },
  'generate-content': { contents: [{ parts: [{ text: 'hello' }] }] },
};

export const route: readonly Command[] = [
  {
    name: 'route explain',
    usage: '--workspace SLUG --model ID [--body FILE] [--family F]',
    positionals: [],
    options: ['workspace', 'model', 'body', 'family'],
    required: ['workspace', 'model'],
    run: async (context, input) => {
      const { workspace = '', model: modelId = '', body, family: wanted } = input.options;
      const db = await context.db();
      const { id, slug } = await getWorkspaceId(db, workspace);
      const catalogue = await loadCatalogue(db.pool, context.catalogueSources());
      const model = catalogue.models.get(modelId);
      if (!model) {
        throw new CommandRefused(`no model "${modelId}" in the catalogue; "gateway catalogue list" has them`);
      }
      const family = chooseFamily(model, wanted);
      const ask = await readAsk(family, modelId, body);
      const found = plan({
        ask,
        family: family.id,
        snapshot: anyKey(id, slug, await readPolicies(db, id)),
        catalogue,
        // What processes learn of their providers stays with them: here every offer counts as healthy.
        healthOf: () => ({ firstByteMs: null, tokensPerSecond: null, openUntilMs: 0 }),
        callId: context.newId(),
        nowMs: Date.now(),
      });
      const candidates = found.targets.map(({ model: { id: target }, offer, price }) => ({
        provider: offer.provider.id,
        model: target,
        upstreamModel: offer.upstreamModel,
        input: price.price.base.input === undefined ? null : formatUsd(price.price.base.input),
        output: price.price.base.output === undefined ? null : formatUsd(price.price.base.output),
      }));
      const failure = found.failure && { code: found.failure.code, message: found.failure.message };
      const json = {
        workspace: slug,
        model: modelId,
        family: family.id,
        candidates,
        skipped: found.skipped,
        failure,
      };
      return { json, text: explain(json) };
    },
  },
];

function explain(found: {
  family: string;
  candidates: readonly { provider: string; model: string; input: string | null; output: string | null }[];
  skipped: readonly { provider: string; model: string; why: string }[];
  failure: { message: string } | null;
}): string {
  const rows = found.candidates.map((one, at) => [at + 1, one.provider, one.model, one.input, one.output]);
  return [
    `in the ${found.family} family:`,
    tableLines(['#', 'PROVIDER', 'MODEL', 'IN', 'OUT'], rows, found.failure?.message ?? 'no candidate'),
    ...found.skipped.map((one) => `skipped ${one.provider} for ${one.model}: ${one.why}`),
  ].join('\n');
}

function chooseFamily(model: ModelFacts, wanted: string | undefined): Family {
  const offered = new Set(model.offers.flatMap((offer) => [...offer.families]));
  const family = families.find((one) => (wanted === undefined ? offered.has(one.id) : one.id === wanted));
  if (family) return family;
  const known = families.map((one) => one.id).join(', ');
  throw new CommandRefused(
    wanted === undefined
      ? `no offer of "${model.id}" is in force: add one in the catalogue file`
      : `--family: a family is one of ${known}`,
  );
}

/** The ask of a body file, or of the least body; its model is always the one asked about. */
async function readAsk(family: Family, modelId: string, file: string | undefined): Promise<Ask> {
  const operation = family.operations.find((one) => one.steps === 'generate' && one.fields !== null);
  if (!operation?.fields) throw new CommandRefused(`the ${family.id} family generates nothing to route`);
  const given = file === undefined ? leastBody[family.id] : await readBody(file);
  const bytes = Buffer.from(JSON.stringify({ ...given, model: modelId }));
  const scanned = scan(bytes, operation.fields);
  if ('fault' in scanned) throw new CommandRefused(scanned.fault);
  const ask = family.readAsk(operation, { model: modelId }, scanned);
  if (isRefusal(ask)) throw new CommandRefused(ask.message);
  return ask;
}

async function readBody(file: string): Promise<object> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) throw new CommandRefused(`${file} cannot be read: give a request body as JSON`);
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  } catch {
    // Said below, like every other body that is no JSON object.
  }
  throw new CommandRefused(`${file} holds no JSON object: give a request body`);
}

async function readPolicies(db: Db, workspaceId: string): Promise<Map<string, Policy>> {
  const rows = await db.prisma.policy.findMany({
    where: { workspaceId },
    distinct: ['modelId'],
    orderBy: [{ modelId: 'asc' }, { version: 'desc' }],
  });
  return new Map(rows.map((row) => [row.modelId, parsePolicy(row.policy)]));
}

/** A key of the workspace that may do everything: the plan of the workspace itself. */
function anyKey(id: string, slug: string, policies: ReadonlyMap<string, Policy>): KeySnapshot {
  const limits = { rpm: null, tpm: null, concurrency: null };
  return {
    key: {
      id,
      name: 'route explain',
      status: 'active',
      quotaExhausted: false,
      models: null,
      maxOutputTokens: null,
      caps: { dayNano: null, d7Nano: null, d30Nano: null, quotaNano: null },
      limits,
      expiresAtMs: null,
      ownerRemoved: false,
    },
    workspace: { id, slug, timeZone: 'UTC', strict: false, suspended: false, limits },
    policies,
    secretUntilMs: null,
  };
}
