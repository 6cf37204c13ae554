import { type Refusal, Refused, refusal } from '#lib/core/errors';
import type { Keeper } from '#lib/core/facts/credential';
import type { Resource, ResourceReference } from '#lib/core/facts/resource';
import { type AskedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { findOwned, unknown } from '#lib/gateway/flow/steps/own-resource';

/**
 * What the body continues must be the workspace's own, and one account at one provider must keep all of it: the call
 * goes there (contract: jobs/pinning). The continued call's input is read again, so it adds to the hold.
 * @throws Refused `not_found`; `model_not_allowed` when it is kept in two places.
 */
export async function pinCall(runtime: Runtime, call: AskedCall): Promise<void> {
  const references = call.ask.references ?? [];
  let { pinned, previousTokens } = call;
  const found = await Promise.all(references.map((reference) => find(runtime, call, reference)));
  for (const [index, resource] of found.entries()) {
    const reference = references[index];
    if (resource === null) {
      if (reference?.required) throw new Refused(unknown(reference.kind));
      continue;
    }
    if (pinned !== null && !isSame(pinned, resource)) throw new Refused(refuseTwoKeepers(pinned, resource));
    pinned = resource;
    // Items are named together with the response that they came with: its total counts once.
    if (resource.kind === 'cache' && resource.modelId !== call.ask.model)
      throw new Refused(refuseModel(resource));
    if (resource.kind === 'response' || resource.kind === 'conversation' || resource.kind === 'cache') {
      previousTokens = Math.max(previousTokens, resource.tokens);
    }
  }
  extendCall(call, { pinned, previousTokens });
}

async function find(
  runtime: Runtime,
  call: AskedCall,
  reference: ResourceReference,
): Promise<Resource | null> {
  const found = findOwned(runtime, call, reference.kind, reference.id);
  // Without a look-up, content that carries its own state can still be sent.
  return reference.required ? found : found.catch(() => null);
}

/** A provider reads a context cache only with the model that it was made for. */
function refuseModel({ modelId }: Resource): Refusal {
  return refusal(
    'model_not_allowed',
    `The context cache was made for model ${modelId}; call that model, or make a cache for this one.`,
  );
}

function isSame(one: Keeper, other: Keeper): boolean {
  return one.providerId === other.providerId && one.credential === other.credential;
}

function refuseTwoKeepers(pinned: Keeper, { kind, providerId }: Resource): Refusal {
  if (pinned.providerId === providerId) {
    return refusal(
      'model_not_allowed',
      `The request continues state stored in two accounts at ${providerId} (one of them stores its ${kind}); continue state of only one of them.`,
    );
  }
  return refusal(
    'model_not_allowed',
    `The request continues state stored at two providers (${pinned.providerId} and, for its ${kind}, ${providerId}); continue state of only one of them.`,
  );
}
