import { batchOperation } from '#lib/core/batches/line';
import { isRefusal, Refused, refusal } from '#lib/core/errors';
import type { JobFacts } from '#lib/core/facts/job';
import type { Resource } from '#lib/core/facts/resource';
import { readBatch } from '#lib/core/families/chat/batches';
import type { BatchWeight } from '#lib/core/families/family';
import { dropFindings } from '#lib/core/families/scan';
import { batchTier } from '#lib/core/metering/service-tier';
import { checkModel } from '#lib/gateway/admission/pure/decide';
import { type AskedCall, extendCall, type FamilyCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import { tagCall } from '#lib/gateway/flow/call/tag-call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { findOwned, unknown } from '#lib/gateway/flow/steps/own-resource';
import { readBody } from '#lib/gateway/flow/upload/read-body';
import { planBatched } from '#lib/gateway/routing/plan-batched';

/** A call that runs the requests of a file, and that file. */
interface BatchCall {
  readonly call: AskedCall;
  readonly file: Resource;
}

/**
 * What a request for a batch asks for: the lines of its file, which were checked when that was uploaded. The key that
 * creates it may be another one, so its models and its maximum are checked again (contract: batches/create).
 * @throws Refused `not_found`, `invalid_body`, `model_not_allowed`, `max_output_tokens_exceeded`.
 */
export async function parseBatch(runtime: Runtime, call: FamilyCall): Promise<BatchCall> {
  const { arrival, operation, params, snapshot } = call;
  const scan = await tagCall(call, await readBody(runtime, arrival, operation, snapshot.key.id));
  const named = readBatch(scan);
  dropFindings(scan);
  if (isRefusal(named)) throw new Refused(named);
  const file = await findOwned(runtime, call, 'file', named.file);
  if (!file) throw new Refused(unknown('file'));
  const batch = weightOf(file.facts);
  if (!batch) {
    throw new Refused(
      refusal(
        'invalid_body',
        'Field "input_file_id" must name a file that was uploaded with the purpose "batch".',
      ),
    );
  }
  if (batch.endpoint !== named.endpoint) {
    throw new Refused(
      refusal(
        'invalid_body',
        `Field "endpoint" must be "${batch.endpoint}", which the lines of the file call.`,
      ),
    );
  }
  const asked = extendCall(call, {
    pinned: file,
    ask: {
      operation,
      params,
      scan,
      model: file.modelId,
      stream: false,
      budget: null,
      choices: batch.choices,
      serviceTier: batchTier,
      weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 },
      ...(batch.serverTools === 1 ? { serverTools: true as const } : {}),
      batch,
      job: { endpoint: batch.endpoint, lines: batch.lines, choices: batch.choices } satisfies JobFacts,
    },
  });
  const refused = checkModel(file.modelId, snapshot, runtime.catalogue()) ?? checkMaximum(batch, call);
  if (refused) throw new Refused(refused);
  return { call: asked, file };
}

function checkMaximum({ mostOutput, endpoint }: BatchWeight, { snapshot }: FamilyCall) {
  const most = snapshot.key.maxOutputTokens;
  if (most === null || batchOperation(endpoint)?.budgeted !== true) return null;
  if (mostOutput > 0 && mostOutput <= most) return null;
  return refusal(
    'max_output_tokens_exceeded',
    `Lines of the file ask for more output tokens than the ${most} that this API key allows; upload it again with this key, or use another one.`,
  );
}

/** What was found out when the file was uploaded; null: it is no file of requests. */
function weightOf(facts: Resource['facts']): BatchWeight | null {
  if (facts === undefined || typeof facts.endpoint !== 'string') return null;
  const figure = (name: string) => Number(facts[name] ?? 0);
  return {
    endpoint: facts.endpoint,
    lines: figure('lines'),
    textTokens: figure('textTokens'),
    imageTokens: figure('imageTokens'),
    soundTokens: figure('soundTokens'),
    outputTokens: figure('outputTokens'),
    mostInput: figure('mostInput'),
    mostOutput: figure('mostOutput'),
    choices: figure('choices'),
    serverTools: figure('serverTools'),
    caches: figure('caches'),
  };
}

/** A batch goes where its file is, by the credential that stored it (contract: jobs/pinning). */
export function planBatch(runtime: Runtime, { call, file }: BatchCall): PlannedCall {
  const { ask, snapshot } = call;
  const catalogue = runtime.catalogue();
  const family = batchOperation(ask.batch?.endpoint ?? '')?.family;
  if (!family || family === 'models') throw new Error('a batch that was read has an endpoint');
  const { policies } = snapshot;
  const nowMs = runtime.clock.now();
  const planned = planBatched({ ask, family, file, catalogue, policies, nowMs });
  return extendCall(call, { plan: planned, catalogue });
}
