import { variantOf } from '#lib/core/families/messages/variant';
import type { Access, OpenAccess } from '#lib/gateway/clouds/access';
import { loadEventStreams } from '#lib/gateway/clouds/event-stream';
import { NoAccess } from '#lib/gateway/clouds/no-access';
import { outgoing } from '#lib/gateway/flow/attempt/outgoing';
import type { SentCall } from '#lib/gateway/flow/attempt/translate-call';
import type { Target } from '#lib/gateway/routing/pure/target';
import { type Outgoing, sentPath, type Unsent } from '#lib/gateway/upstream/attempt';

/** An attempt whose credential is ready to be sent. */
export interface ReadyAttempt {
  /** With the credential as it is sent. */
  readonly target: Target;
  readonly outgoing: () => Outgoing;
  /** Why it cannot be sent; null: it can. */
  readonly unsent: Unsent | null;
  /** As `OpenAccess.refused`. */
  readonly refused: OpenAccess['refused'];
}

/**
 * Gets what the credential of an attempt needs (contract: families/cloud-credentials). Only credentials of clouds and
 * binary streams make a promise of it.
 */
export function readyAttempt(
  access: Access,
  sent: SentCall,
  target: Target,
): ReadyAttempt | Promise<ReadyAttempt> {
  const streams = sent.family.id === 'messages' && variantOf(target.offer) === 'bedrock';
  if (target.credential.cloud !== undefined || streams) return prepared(access, sent, target);
  return { target, outgoing: () => outgoing(sent, target), unsent: null, refused: () => false };
}

async function prepared(access: Access, sent: SentCall, target: Target): Promise<ReadyAttempt> {
  await loadEventStreams();
  const { provider } = target.offer;
  try {
    const { credential, sign, refused } = await access.open(provider, target.credential, target.address);
    const aimed = { ...target, credential };
    const made = outgoing(sent, aimed);
    if (sign === null) return { target: aimed, outgoing: () => made, unsent: null, refused };
    const signature = await sign({
      method: made.method,
      path: sentPath(target.address, made),
      contentType: contentTypeIn(made.headers),
      body: made.body,
    });
    // A body that is streamed was read to its end for the signature.
    const whole = made.body === null || made.body instanceof Uint8Array;
    const next = whole ? made : outgoing(sent, aimed);
    const signed = { ...next, headers: [...next.headers, ...signature] };
    return { target: aimed, outgoing: () => signed, unsent: null, refused };
  } catch (error) {
    if (!(error instanceof NoAccess)) throw error;
    const [whose, kind] =
      error.code === 'TOKEN_REFUSED'
        ? (['operator', 'credential'] as const)
        : (['provider', 'server'] as const);
    const fault = { whose, kind, waitMs: null, code: null, message: error.message };
    const unsent = { error, fault };
    return { target, outgoing: () => outgoing(sent, target), unsent, refused: () => false };
  }
}

function contentTypeIn(headers: readonly string[]): string | null {
  const at = headers.indexOf('content-type');
  return at < 0 ? null : (headers[at + 1] ?? null);
}
