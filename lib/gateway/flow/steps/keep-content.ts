import { isMultipart } from '#lib/core/families/multipart/boundary';
import { keepsEnded, mayKeep } from '#lib/gateway/content/pure/which';
import { type Call, type ClaimedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { Runtime } from '#lib/gateway/flow/runtime';

/** Multipart bodies are not kept (contract: content/which). */
const nothing = new Uint8Array();
const dayMs = 86_400_000;

/** Begins to copy what a call is asked and answered, if its workspace wants it (contract: content/which). */
export function copyContent({ content }: Runtime, call: ClaimedCall, reply: LiveReply): void {
  const { arrival, ask, id, snapshot } = call;
  if (content === null || !mayKeep(snapshot.content, id, arrival.headers['x-gateway-content'])) return;
  const type = arrival.headers['content-type'] ?? '';
  const copy = content.copyOf(type, isMultipart(type) ? nothing : ask.scan.body);
  extendCall(call, { content: copy });
  reply.copyTo(copy);
}

/** Keeps the copies of an ended call, or drops them; no call waits for it (contract: content/beside). */
export function keepContent({ content }: Runtime, call: Call): void {
  const { content: copy, outcome, snapshot } = call;
  if (copy === null || content === null) return;
  const rule = snapshot?.content;
  const failed = outcome.status >= 400 || outcome.refusal !== null;
  if (!rule || !snapshot || !keepsEnded(rule, failed)) {
    copy.free();
    return;
  }
  content.keep(copy, {
    callId: call.id,
    workspaceId: snapshot.workspace.id,
    keyId: snapshot.key.id,
    atMs: call.startMs,
    keepUntilMs: call.startMs + rule.days * dayMs,
    ...(rule.masks && { masks: rule.masks }),
  });
}
