import { type Command, CommandRefused } from '#lib/command/command';
import { chooseFamily, readAsk } from '#lib/command/explain/ask';
import { readHealth } from '#lib/command/explain/health';
import { tableLines } from '#lib/command/text';
import { getWorkspaceId } from '#lib/command/workspace';
import type { Db } from '#lib/data/db';
import { formatUsd } from '#lib/money';
import { type Candidate, explain } from '#lib/routing/explain';
import { resolveName, resolveNames } from '#lib/routing/names/resolve';
import { parsePolicy } from '#lib/schemas/policy';
import { loadCatalogue } from '#lib/snapshot/catalogue';
import type { KeySnapshot, Policy } from '#lib/snapshot/snapshot';

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
      const snapshot = anyKey(id, slug, await readPolicies(db, id));
      const named = resolveName(modelId, snapshot, catalogue, null);
      if ('code' in named) throw new CommandRefused(named.message);
      const model = catalogue.models.get(named.slug);
      if (!model) {
        throw new CommandRefused(`no model "${modelId}" in the catalogue; "gateway catalogue list" has them`);
      }
      const family = chooseFamily(model, wanted);
      const ask = resolveNames(await readAsk(family, modelId, body), family.id, snapshot, catalogue);
      if ('code' in ask) throw new CommandRefused(ask.message);
      const health = await readHealth(context.env().dataDir);
      const found = explain({
        ask,
        family: family.id,
        snapshot,
        catalogue,
        healthOf: health.of,
        callId: context.newId(),
        nowMs: Date.now(),
      });
      const failure = found.failure && { code: found.failure.code, message: found.failure.message };
      const json = {
        workspace: slug,
        model: ask.model,
        requestedModel: modelId,
        family: family.id,
        candidates: found.candidates.map(candidateOf),
        skipped: found.skipped,
        timeouts: found.timeLimits,
        health: health.processes > 0 ? ('live' as const) : ('unknown' as const),
        failure,
      };
      return { json, text: textOf(json) };
    },
  },
];

function candidateOf({ target, openUntilMs }: Candidate) {
  const { input, output } = target.price.price.base;
  return {
    provider: target.offer.provider.id,
    model: target.model.id,
    upstreamModel: target.offer.upstreamModel,
    input: input === undefined ? null : formatUsd(input),
    output: output === undefined ? null : formatUsd(output),
    /** Set aside by the breaker until then. */
    openUntil: openUntilMs === null ? null : new Date(openUntilMs).toISOString(),
  };
}

function textOf(found: {
  family: string;
  candidates: readonly ReturnType<typeof candidateOf>[];
  skipped: readonly { provider: string; model: string; why: string }[];
  health: 'live' | 'unknown';
  failure: { message: string } | null;
}): string {
  const rows = found.candidates.map((one, at) => [
    at + 1,
    one.provider,
    one.model,
    one.input,
    one.output,
    one.openUntil === null ? 'in service' : `set aside until ${one.openUntil}`,
  ]);
  const titles = ['#', 'PROVIDER', 'MODEL', 'IN', 'OUT', 'STATE'];
  return [
    `in the ${found.family} family:`,
    tableLines(titles, rows, found.failure?.message ?? 'no candidate'),
    ...found.skipped.map((one) => `skipped ${one.provider} for ${one.model}: ${one.why}`),
    ...(found.health === 'live'
      ? []
      : ['no gateway process runs on this data directory: every offer counts as healthy here']),
  ].join('\n');
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
