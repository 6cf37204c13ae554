import { Refused, refusal, unaccountable } from '#lib/core/errors';
import { fileStores } from '#lib/core/facts/stores';
import { uploadedFile } from '#lib/core/families/chat/files';
import type { GivenAnswer } from '#lib/gateway/flow/attempt/try-targets';
import type { ClaimedCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { announcedBytes, isCancelled } from '#lib/gateway/flow/steps/resumable-upload';

/**
 * Uploads a file only if the workspace may have one more of its size (contract: batches/room); an upload that stores
 * nothing gives its room back.
 * @throws Refused `invalid_body`; `local_quota_not_configured` when the room cannot be looked up.
 */
export async function withRoom(
  runtime: Runtime,
  call: ClaimedCall,
  upload: () => Promise<GivenAnswer>,
): Promise<GivenAnswer> {
  const { stores, resumable } = call.operation;
  if (!stores || !fileStores.has(stores)) return upload();
  if (resumable === 'part') {
    // Its upload has taken the room.
    const given = await upload();
    if (call.ticket && isCancelled(call, given)) leave(runtime, call.ticket.callId);
    return given;
  }
  await take(runtime, call);
  let stored = false;
  try {
    const given = await upload();
    stored = given.exchange.status >= 200 && given.exchange.status < 300;
    return given;
  } finally {
    if (!stored) leave(runtime, call.id);
  }
}

function leave(runtime: Runtime, callId: string): void {
  runtime.fileRoom?.leave(callId).catch((error: unknown) => runtime.report(error, callId));
}

async function take(
  runtime: Runtime,
  { id: callId, snapshot, ask, operation, arrival }: ClaimedCall,
): Promise<void> {
  const bytes = operation.resumable ? announcedBytes(arrival) : uploadedFile(ask).bytes;
  let full: Awaited<ReturnType<NonNullable<Runtime['fileRoom']>['take']>>;
  try {
    if (!runtime.fileRoom) throw new Error('this process has no room for files');
    full = await runtime.fileRoom.take({ callId, workspaceId: snapshot.workspace.id, bytes });
  } catch (error) {
    runtime.report(error, callId);
    throw new Refused(unaccountable('cannot look up the stored files right now'));
  }
  if (!full) return;
  const most = full.limit === 'files' ? `${full.most} files` : `${full.most} bytes of files`;
  throw new Refused(
    refusal(
      'invalid_body',
      `This workspace may store ${most}, which this file would exceed; delete files with DELETE /v1/files/{id}.`,
    ),
  );
}
