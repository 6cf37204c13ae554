import { credentialHeaderOf } from '#lib/core/families/credential-header';
import type { Ask, Edit, Family } from '#lib/core/families/family';
import { nestedEdits } from '#lib/core/families/nested';
import { queryToProvider } from '#lib/core/families/query';
import { nativeThinking } from '#lib/core/translation/native-thinking';
import type { SentCall } from '#lib/gateway/flow/attempt/translate-call';
import { editedBody } from '#lib/gateway/flow/upload/edited-body';
import type { Target } from '#lib/gateway/routing/pure/target';
import { makerOf } from '#lib/gateway/routing/pure/translate';
import type { Outgoing } from '#lib/gateway/upstream/attempt';
import { headersToProvider } from '#lib/gateway/upstream/headers';

/** What is sent to one target: the client's own bytes except for what must differ (contract: body/replaced). */
export function outgoing(call: SentCall, target: Target): Outgoing {
  const { ask, family } = call;
  const { body, contentLength } = editedBody(ask.scan, editsOf(ask, family, target));
  const query = queryToProvider(call.query, ask.operation.query);
  const path = family.upstreamPath(ask, target.offer);
  const headers = headersToProvider(call.arrival.headers, {
    credential: credentialHeaderOf(family, target.offer.provider, target.credential.secret),
    body: bodyOf(ask),
    denyBetas: target.offer.denyBetas,
    workspaceId: call.snapshot.workspace.id,
  });
  const required = family.requiredHeader;
  if (required && !call.arrival.headers[required[0]]) headers.push(...required);
  if (contentLength !== null) headers.push('content-length', String(contentLength));
  const { method, download } = ask.operation;
  return {
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers,
    body,
    file: download !== undefined,
  };
}

function editsOf(ask: Ask, family: Family, target: Target): readonly Edit[] {
  if (ask.operation.steps === 'stored') return [];
  // A translated body may have its budget already.
  const named = ask.budget !== null && ask.budgetIsNested !== true;
  const edits = [
    ...family.edits(ask, target.offer, named ? null : target.injectBudget),
    ...nativeThinking(ask.scan, family.id, makerOf(target.model.id)),
  ];
  return ask.nested ? [...edits, ...nestedEdits(ask, target.nested)] : edits;
}

function bodyOf({ operation, scan }: Ask): 'json' | 'form' | 'none' | 'content' {
  if (operation.download) return 'content';
  if (operation.fields === null) return 'none';
  return scan.upload ? 'form' : 'json';
}
