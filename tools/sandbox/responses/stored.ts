import type { ProviderMemory } from '#tools/sandbox/content/memory';
import { type Answer, freeOfCharge, type Opened, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { responseFrames } from '#tools/sandbox/responses/frames';
import { type KeptResponse, keptResponses } from '#tools/sandbox/responses/kept';
import { statusOf, viewOf } from '#tools/sandbox/responses/view';
import { keptName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { pageOf } from '#tools/sandbox/wire/page';

const storedPath = /^\/responses\/(?!compact$)([^/]+)(\/cancel|\/input_items)?$/;

/** Whether the family has such an operation on what is stored. */
export function handlesStored(method: string, path: string): boolean {
  const [, , end] = storedPath.exec(path) ?? [null, null, null];
  if (end === null) return false;
  if (end === '/cancel') return method === 'POST';
  return method === 'GET' || (method === 'DELETE' && end === undefined);
}

/**
 * Opens a request on a stored response: read it (whole or, resumed, as a stream), list its input, cancel it
 * or delete it.
 * @throws ProviderFault 404 for an unknown id.
 */
export function openStored(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const [, encoded = '', end] = storedPath.exec(seen.path) ?? [];
  const id = decodeURIComponent(encoded);
  const kept = keptResponses.find(memory, id);
  if (!kept) throw new ProviderFault(404, `Response with id '${id}' not found.`);
  const resumes = seen.method === 'GET' && end === undefined && seen.query.get('stream') === 'true';
  return {
    model: kept.model,
    asked: keptName(kept.asked, seen.method),
    stream: resumes,
    prompt: '',
    answer() {
      if (resumes) return resumed(kept, seen);
      if (end === '/input_items') {
        return pageOf(
          kept.inputItems.map(({ item }) => item),
          seen.query,
          'desc',
        );
      }
      if (end === '/cancel') return cancelled(kept, seen.atMs);
      if (seen.method === 'DELETE') {
        keptResponses.remove(memory, id);
        return whole({ id, object: 'response', deleted: true });
      }
      return viewed(kept, seen.atMs);
    },
  };
}

function viewed(kept: KeptResponse, nowMs: number): Answer {
  const { body, usage } = viewOf(kept, statusOf(kept, nowMs));
  return whole(body, usage);
}

function cancelled(kept: KeptResponse, nowMs: number): Answer {
  if (kept.course === null) throw new ProviderFault(400, 'Cannot cancel a synchronous response.');
  const status = statusOf(kept, nowMs);
  if (status === 'queued' || status === 'in_progress') kept.cancelledAtMs = nowMs;
  return viewed(kept, nowMs);
}

function resumed(kept: KeptResponse, { query, atMs }: ReceivedRequest): Answer {
  if (kept.course === null || !kept.streamed) {
    throw new ProviderFault(400, 'This response cannot be streamed; it was not created so.', null, 'stream');
  }
  const after = Number.parseInt(query.get('starting_after') ?? '-1', 10);
  return { truth: freeOfCharge, content: { kind: 'stream', frames: responseFrames(kept, atMs, after) } };
}
