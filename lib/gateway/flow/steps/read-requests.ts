import { atRequest, readRequest } from '#lib/core/batches/line';
import { isRefusal, Refused, refusal } from '#lib/core/errors';
import type { JobFacts } from '#lib/core/facts/job';
import type { Ask, Edit } from '#lib/core/families/family';
import { wrongType } from '#lib/core/families/reading/fields';
import { dropFindings, type Scan } from '#lib/core/families/scan';
import { Located } from '#lib/core/families/scan/located';
import { batchTier } from '#lib/core/metering/service-tier';
import { extendCall, type FamilyCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import { tagCall } from '#lib/gateway/flow/call/tag-call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { authenticate } from '#lib/gateway/flow/steps/authenticate';
import { BatchLines } from '#lib/gateway/flow/steps/batch-lines';
import { readBody } from '#lib/gateway/flow/upload/read-body';
import { takeTurn } from '#lib/gateway/flow/upload/turns';

/** Requests of one body; a provider takes so many in one batch. */
const MOST_REQUESTS = 100_000;
/** So many are checked before other calls get their turn. */
const IN_ONE_TURN = 50;

/**
 * What a batch asks for whose requests are in its body: each is checked as a call would be, and gets the provider's name
 * of the model (contract: batches/messages).
 * @throws Refused that names the request by its place and its `custom_id`.
 */
export async function readRequests(runtime: Runtime, call: FamilyCall): Promise<PlannedCall> {
  const { arrival, operation, snapshot } = call;
  const scan = await tagCall(call, await readBody(runtime, arrival, operation, snapshot.key.id));
  // A large body may take minutes to arrive (contract: authentication/change-in-force).
  const known = call.placed ? await authenticate(runtime, call) : call;
  const requests = requestsIn(operation.runsRequests ?? '', scan);
  dropFindings(scan);
  const asked = extendCall(known, { ask: askFor(known, scan) });
  const lines = new BatchLines(runtime, asked, {
    most: MOST_REQUESTS,
    tooMany: `A batch may have ${MOST_REQUESTS} requests; send more than one batch.`,
    none: 'Field "requests" is empty; send at least one request.',
  });
  const edits: Edit[] = [];
  for (const [index, { start, end }] of requests.entries()) {
    if (index % IN_ONE_TURN === IN_ONE_TURN - 1) await takeTurn(scan.body.length - start);
    const request = readRequest(scan.body.subarray(start, end), index);
    if (isRefusal(request)) throw new Refused(request);
    const { customId } = request;
    const own = await lines.take(request, (refused) => atRequest(index, customId, refused));
    const at = start + request.start;
    for (const edit of own) edits.push({ ...edit, start: edit.start + at, end: edit.end + at });
  }
  const { planned, weight, model } = lines.end();
  const { endpoint, lines: count, choices, serverTools } = weight;
  return extendCall(planned, {
    ask: {
      ...asked.ask,
      model,
      choices,
      ...(serverTools === 1 ? { serverTools: true as const } : {}),
      batch: weight,
      lineEdits: edits,
      job: { endpoint, lines: count, choices } satisfies JobFacts,
    },
  });
}

/** The list of requests, not read yet. @throws Refused `invalid_body`. */
function requestsIn(field: string, { body, found }: Scan): readonly Located[] {
  const list = found.get(field);
  if (!list)
    throw new Refused(refusal('invalid_body', `Field "${field}" is missing; send a list of requests.`));
  if (list.type !== 'array') throw new Refused(wrongType(list, 'a list of requests'));
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return new Located(bytes, list.start, list.end).elements();
}

function askFor({ operation, params }: FamilyCall, scan: Scan): Ask {
  return {
    operation,
    params,
    model: '',
    stream: false,
    budget: null,
    choices: 1,
    serviceTier: batchTier,
    weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 },
    scan,
  };
}
