import { isRefusal, type Refusal } from '#lib/core/errors';
import type { CredentialFacts } from '#lib/core/facts/credential';
import { defaultCredential } from '#lib/core/facts/pool';
import type { ModelFacts, OfferFacts, ProviderFacts } from '#lib/core/facts/snapshot';
import { chat } from '#lib/core/families/chat';
import type { Ask, Operation } from '#lib/core/families/family';
import { scan } from '#lib/core/families/scan';
import type { Target } from '#lib/gateway/routing/pure/target';

export function makeCredential(part: Partial<CredentialFacts> = {}): CredentialFacts {
  return { name: defaultCredential, secret: 'secret', weight: 1, priority: 1, models: null, ...part };
}

/** The credential of a target, and its pool. */
export function calledBy(secret = 'secret'): Pick<Target, 'credential' | 'pool'> {
  const credential = makeCredential({ secret });
  return { credential, pool: [credential] };
}

export function makeProvider(part: Partial<ProviderFacts> = {}): ProviderFacts {
  return {
    id: 'provider',
    name: 'Provider',
    families: new Map(),
    credentials: [makeCredential()],
    withdrawn: [],
    credentialEnv: null,
    credentialHeaders: new Map(),
    onDisconnect: 'abort',
    pricesFrom: null,
    stores: new Set(),
    ...part,
  };
}

export function makeOffer(part: Partial<OfferFacts> = {}): OfferFacts {
  return {
    id: 'offer',
    modelId: 'vendor/name',
    provider: makeProvider(),
    upstreamModel: 'upstream-name',
    families: new Set(['chat']),
    price: null,
    outputBudgetField: null,
    streamUsage: null,
    streamEnd: null,
    denyBetas: [],
    abilities: {},
    lacks: [],
    unserved: new Set(),
    servedUntilMs: null,
    ...part,
  };
}

export function makeModel(part: Partial<ModelFacts> = {}): ModelFacts {
  return {
    id: 'vendor/name',
    name: 'Name',
    aliases: [],
    contextTokens: 100_000,
    maxOutputTokens: 8_000,
    input: ['text'],
    output: ['text'],
    reasoning: false,
    createdAtMs: 0,
    released: null,
    offers: [makeOffer()],
    ...part,
  };
}

function chatOperation(): Operation {
  const [operation] = chat.operations;
  if (!operation) throw new Error('the chat family has one operation');
  return operation;
}

/** The ask of a chat body, or the refusal that it meets. */
export function readChat(body: string | object): Ask | Refusal {
  const operation = chatOperation();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const scanned = scan(Buffer.from(text), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  return chat.readAsk({ operation, params: {}, scan: scanned });
}

/** @throws when the body is refused. */
export function askChat(body: string | object): Ask {
  const ask = readChat(body);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}
