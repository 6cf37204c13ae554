import { z } from 'zod';
import { type ReadContext, read } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { choice, document, words } from '#lib/control/operations/field/kinds';
import { readPolicies } from '#lib/control/operations/policy/check';
import { placeOf } from '#lib/control/operations/policy/places';
import { badInput, notFound, quoted } from '#lib/control/operations/refusal';
import { chooseFamily, nameIn, readAsk, readPath } from '#lib/control/operations/route/ask';
import { showHealth } from '#lib/control/operations/route/health';
import { explanation, textOf } from '#lib/control/operations/route/shown';
import type { KeySnapshot, Policy } from '#lib/core/facts/snapshot';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { formatUsd } from '#lib/core/money';
import { parsePolicy, policyShape } from '#lib/core/schemas/policy';
import { type Candidate, explain } from '#lib/gateway/routing/explain';
import { resolveName, resolveNames } from '#lib/gateway/routing/names/resolve';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import { ClientRequest } from '#lib/gateway/translation/pure/client-request';
import { newRowId } from '#lib/platform/data/row-id';

export const explainRoute = read({
  name: 'route.explain',
  summary:
    'Shows the offers that a call of the workspace would try, in order, and why the others are skipped.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: allOptional({
    model: words(
      {
        label: 'Model',
        help: 'A slug or an alias, as in a call. Default: the model in the body or the path.',
        placeholder: 'ID',
        example: 'openai/gpt-4.1',
      },
      200,
    ),
    path: words(
      {
        label: 'Path',
        help: 'Path of the call, which determines its family: "/v1/messages".',
        placeholder: 'PATH',
      },
      2000,
    ),
    body: document(
      {
        label: 'Request body',
        help: 'The body of a call, which determines what it needs. Default: the smallest valid body.',
        placeholder: 'FILE',
        example: { messages: [{ role: 'user', content: 'hello' }] },
      },
      z.record(z.string(), z.unknown(), 'a request body must be a JSON object'),
    ),
    family: choice(
      {
        label: 'Family',
        help: 'The protocol. Default: the first in which the model is offered.',
        placeholder: 'F',
      },
      familyIds,
    ),
    policy: document(
      {
        label: 'Policy',
        help: 'A policy that is not in force, to see what it would do.',
        flag: 'policy',
        placeholder: 'FILE',
      },
      policyShape,
    ),
    policyModel: words(
      { label: 'Policy model', help: 'The model that this policy is for. Default: "default".' },
      200,
    ),
  }),
  output: explanation,
  line: {},
  text: textOf,
  run: async (context, { model: asked, path, body, family: wanted, policy, policyModel }) => {
    const { scope, nowMs } = context;
    const catalogue = await context.catalogue();
    const snapshot = await anyKey(context, policy && { place: placeOf(policyModel), policy });
    const meant = path === undefined ? null : readPath(path);
    const requestedModel = asked ?? nameIn(meant, body);
    const named = resolveName(requestedModel, snapshot, catalogue, meant?.family ?? null);
    if ('code' in named) throw badInput('model', named.message);
    const model = catalogue.models.get(named.slug);
    if (!model)
      throw notFound(
        `there is no model ${quoted(requestedModel)}; "gateway catalogue list" shows all models`,
        'model',
      );
    const family = chooseFamily(model, wanted ?? meant?.family);
    const own = readAsk(family, requestedModel, body, meant?.operation);
    const ask = resolveNames(own, family.id, snapshot, catalogue);
    if ('code' in ask) throw badInput('body', ask.message);
    const { processes, of: healthOf } = await context.health();
    const request = ClientRequest.of(family.id, ask);
    const { candidates, skipped, timeLimits, failure } = explain({
      ask,
      family: family.id,
      snapshot,
      catalogue,
      healthOf,
      callId: newRowId(),
      nowMs,
      untranslatable: (target) => request?.misfit(target) ?? null,
    });
    return {
      workspace: scope.slug,
      model: ask.model,
      requestedModel,
      family: family.id,
      candidates: candidates.map((one) => candidateOf(one, family.id)),
      skipped: [...skipped],
      timeouts: { ...limitsOfModel(timeLimits, model) },
      health: processes > 0 ? ('live' as const) : ('unknown' as const),
      failure: failure && { code: failure.code, message: failure.message },
    };
  },
});

export const routeOperations = [explainRoute, showHealth];

function candidateOf({ target, openUntilMs }: Candidate, client: FamilyId) {
  const { input, output } = target.price.price.base;
  return {
    provider: target.offer.provider.id,
    model: target.model.id,
    upstreamModel: target.offer.upstreamModel,
    translatedTo: target.family === client ? null : target.family,
    input: input === undefined ? null : formatUsd(input),
    output: output === undefined ? null : formatUsd(output),
    openUntil: openUntilMs === null ? null : new Date(openUntilMs).toISOString(),
  };
}

/** A key without restrictions, for the plan of the workspace itself. */
async function anyKey(
  context: ReadContext<'workspace'>,
  draft: { readonly place: string; readonly policy: Policy } | undefined,
): Promise<KeySnapshot> {
  const { workspaceId: id, slug, timeZone } = context.scope;
  const stored = [...(await readPolicies(context))];
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
      sessionEnded: false,
    },
    workspace: { id, slug, timeZone, strict: false, suspended: false, limits },
    policies: new Map([
      ...stored.map(([model, { policy }]) => [model, parsePolicy(policy)] as const),
      ...(draft ? [[draft.place, draft.policy] as const] : []),
    ]),
    content: null,
    secretUntilMs: null,
  };
}
