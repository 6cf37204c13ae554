import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { applyEdits } from '#lib/core/families/edits';
import type { Ask, Edit, Family } from '#lib/core/families/family';
import { isVariantHeader, variantOf } from '#lib/core/families/messages/variant';
import { nestedEdits } from '#lib/core/families/nested';
import { queryToProvider } from '#lib/core/families/query';
import { nativeThinking } from '#lib/core/translation/native-thinking';
import { countDecoder, messagesDecoder } from '#lib/gateway/clouds/answers';
import type { SentCall } from '#lib/gateway/flow/attempt/translate-call';
import { editedBody } from '#lib/gateway/flow/upload/edited-body';
import type { Target } from '#lib/gateway/routing/pure/target';
import { makerOf } from '#lib/gateway/routing/pure/translate';
import type { Outgoing } from '#lib/gateway/upstream/attempt';
import { allowedBetas, headersToProvider, headerText } from '#lib/gateway/upstream/headers';

/** What is sent to one target: the client's own bytes except for what must differ (contract: body/replaced). */
export function outgoing(call: SentCall, target: Target): Outgoing {
  const { ask, family } = call;
  const { offer } = target;
  const { headers: given } = call.arrival;
  const variant = family.id === 'messages' ? variantOf(offer) : null;
  const betas = allowedBetas(headerText(given, 'anthropic-beta'), offer.denyBetas);
  const edits = editsOf(ask, family, target, betas);
  // The variants take no query.
  const query = variant === null ? queryToProvider(call.query, ask.operation.query) : '';
  const { method, download, steps, resumable } = ask.operation;
  const named = family.upstreamPath(ask, offer);
  const path = resumable === 'start' ? uploadPath(target.address, named) : named;
  const headers = headersToProvider(given, {
    credential: credentialHeaderOf(family, offer.provider, target.credential),
    body: bodyOf(ask),
    denyBetas: offer.denyBetas,
    workspaceId: call.snapshot.workspace.id,
    ...(resumable && { resumable: true }),
    ...(variant && { without: (name: string) => isVariantHeader(variant, name) }),
  });
  const required = family.requiredHeader;
  if (required && variant === null && !given[required[0]]) headers.push(...required);
  if (variant === 'bedrock' && steps === 'count') {
    const body = countBody(applyEdits(ask.scan.body, edits));
    return { method, path, headers, body, unwrap: countDecoder };
  }
  const { body, contentLength } = editedBody(ask.scan, edits);
  if (contentLength !== null) headers.push('content-length', String(contentLength));
  return {
    ...(variant && { unwrap: messagesDecoder }),
    method,
    path: query === '' ? path : `${path}?${query}`,
    ...(resumable && { whole: true as const }),
    headers,
    body,
    file: download !== undefined,
  };
}

/** Uploads go to an address of their own, beside the versioned root: "/upload/v1beta/files". */
function uploadPath({ pathname }: URL, path: string): string {
  const root = pathname.replace(/\/+$/, '');
  const version = /\/v\d\w*$/.exec(root)?.[0] ?? '';
  return `${root.slice(0, root.length - version.length)}/upload${version}${path}`;
}

/** Bedrock counts the tokens of a request to a model, which it takes inside another one. */
function countBody(invocation: Uint8Array): Uint8Array {
  const body = Buffer.from(invocation).toString('base64');
  return Buffer.from(JSON.stringify({ input: { invokeModel: { body } } }));
}

function editsOf(ask: Ask, family: Family, target: Target, betas: string): readonly Edit[] {
  if (ask.operation.steps === 'stored') return [];
  if (ask.lineEdits) return ask.lineEdits;
  // A translated body may have its budget already.
  const named = ask.budget !== null && ask.budgetIsNested !== true;
  const edits = [
    ...family.edits(ask, target.offer, named ? null : target.injectBudget, betas),
    ...nativeThinking(ask.scan, family.id, makerOf(target.model.id)),
  ];
  return ask.nested ? [...edits, ...nestedEdits(ask, target.nested)] : edits;
}

function bodyOf({ operation, scan }: Ask): 'json' | 'form' | 'none' | 'content' {
  if (operation.download) return 'content';
  if (operation.fields === null) return 'none';
  return scan.upload ? 'form' : 'json';
}
