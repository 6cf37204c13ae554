import { request } from 'undici';
import { z } from 'zod';
import { readAsk } from '#lib/control/operations/route/ask';
import { whyUnreachable } from '#lib/control/providers/unreachable';
import type { CredentialFacts } from '#lib/core/facts/credential';
import { isRetired } from '#lib/core/facts/retired';
import type { Catalogue, OfferFacts } from '#lib/core/facts/snapshot';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { applyEdits } from '#lib/core/families/edits';
import type { Family } from '#lib/core/families/family';
import { families } from '#lib/core/families/index';
import { variantOf } from '#lib/core/families/messages/variant';
import { memberOf } from '#lib/core/families/reading/json';
import { price } from '#lib/core/metering/price';
import { formatUsd } from '#lib/core/money';
import { maskCredential } from '#lib/core/relay/credential-mask';
import type { Access } from '#lib/gateway/clouds/access';
import { addressOf, poolOf } from '#lib/gateway/routing/pure/pool';
import { providerRequestId } from '#lib/gateway/upstream/headers';
import type { Pools } from '#lib/gateway/upstream/pools';

/** Costs next to nothing, and is accepted by every provider. */
const budgetTokens = 16;
const limitMs = 20_000;
const mostBytes = 256 * 1024;
/** Families whose first operation generates text. */
const textFamilies = ['chat', 'messages', 'responses', 'generate-content'] as const;

/** The call of a test. */
export interface Probe {
  readonly family: Family;
  readonly offer: OfferFacts;
  readonly url: URL;
  readonly credential: CredentialFacts;
}

const tokens = z.number().nullable().describe('Tokens according to the answer; null: not reported.');

/** The result, without the credential. */
export const probed = z.object({
  ok: z.boolean(),
  status: z.int().nullable().describe('HTTP status; null: there was no answer.'),
  durationMs: z.int(),
  message: z.string().nullable().describe('What went wrong; null: nothing.'),
  input: tokens,
  output: tokens,
  cost: z.string().nullable().describe('Dollars, paid by the operator; null: unknown.'),
  upstreamRequestId: z.string().nullable(),
});
export type Probed = z.output<typeof probed>;

/**
 * The cheapest offer of a provider that can be called by a credential and generates text; null: there is none. Pure.
 * @param name of the credential, also a withdrawn one; null: the first that can be used.
 */
export function cheapestProbe(
  catalogue: Catalogue,
  providerId: string,
  name: string | null,
  nowMs: number,
): Probe | null {
  const offers = cheapestOffers(catalogue, providerId, nowMs);
  return firstProbe(offers, (offer) => credentialFor(offer, name));
}

/** The same by an own key, at the models that it may serve. Pure. */
export function ownKeyProbe(
  catalogue: Catalogue,
  providerId: string,
  credential: CredentialFacts,
  nowMs: number,
): Probe | null {
  const offers = cheapestOffers(catalogue, providerId, nowMs);
  return firstProbe(offers, ({ modelId }) =>
    credential.models?.has(modelId) === false ? undefined : credential,
  );
}

function firstProbe(
  offers: readonly OfferFacts[],
  credentialAt: (offer: OfferFacts) => CredentialFacts | undefined,
): Probe | null {
  for (const offer of offers) {
    for (const id of textFamilies) {
      const family = families.find((one) => one.id === id && offer.families.has(id));
      const credential = credentialAt(offer);
      const url = credential && addressOf(offer.provider, id, credential);
      if (family && credential && url) return { family, offer, url, credential };
    }
  }
  return null;
}

function cheapestOffers(catalogue: Catalogue, providerId: string, nowMs: number): readonly OfferFacts[] {
  return [...catalogue.models.values()]
    .filter(({ output }) => output.includes('text'))
    .flatMap((model) => model.offers.filter(({ provider }) => provider.id === providerId))
    .filter((offer) => offer.price !== null && !isRetired(offer, nowMs))
    .sort((one, other) => Number(rateOf(one) - rateOf(other)) || (one.modelId < other.modelId ? -1 : 1));
}

function credentialFor(offer: OfferFacts, name: string | null): CredentialFacts | undefined {
  if (name === null) return poolOf(offer)[0];
  const { credentials, withdrawn } = offer.provider;
  const known = [...credentials, ...withdrawn].find((one) => one.name === name);
  return known?.models?.has(offer.modelId) === false ? undefined : known;
}

/** Price of a million input tokens plus a million output tokens, nano-dollars. */
function rateOf({ price }: OfferFacts): bigint {
  const { input = 0n, output = 0n, request: fee = 0n } = price?.price.base ?? {};
  return input + output + fee;
}

/**
 * Makes the call. Never rejects: errors are part of the result.
 * @param reached `pools` null: without a proxy; `access` null: without tokens of clouds.
 */
export async function probe(
  { family, offer, url, credential: given }: Probe,
  { pools, access }: { readonly pools: Pools | null; readonly access: Access | null },
): Promise<Probed> {
  const began = performance.now();
  const none = { input: null, output: null, cost: null, upstreamRequestId: null };
  let credential = given.secret;
  try {
    const least = { ...family.leastBody, ...budgetOf(family, offer) };
    const ask = readAsk(family, offer.upstreamModel, least);
    const variant = family.id === 'messages' ? variantOf(offer) : null;
    const named = family.id === 'generate-content' ? least : { model: offer.upstreamModel, ...least };
    const body =
      variant === null
        ? Buffer.from(JSON.stringify(named))
        : applyEdits(ask.scan.body, family.edits(ask, offer, null));
    const path = `${url.pathname.replace(/\/+$/, '')}${family.upstreamPath(ask, offer)}`;
    const opened = await access?.open(offer.provider, given, url);
    const sent = opened?.credential ?? given;
    credential = sent.secret;
    const contentType = 'application/json';
    const signature = opened?.sign?.({ method: 'POST', path, contentType, body });
    const required = variant === null ? family.requiredHeader : undefined;
    const answer = await request(new URL(`${url.origin}${path}`), {
      method: 'POST',
      headers: [
        'content-type',
        contentType,
        'accept-encoding',
        'identity',
        ...(required ?? []),
        ...(credentialHeaderOf(family, offer.provider, sent) ?? (await signature) ?? []),
      ],
      ...(pools && { dispatcher: dispatcherOf(pools, given, url) }),
      body,
      signal: AbortSignal.timeout(limitMs),
    });
    const text = await readText(answer.body);
    const durationMs = Math.round(performance.now() - began);
    const { statusCode: status, headers } = answer;
    const upstreamRequestId = providerRequestId(headers, credential);
    const parsed = parse(text);
    if (status < 200 || status >= 300) {
      const message = maskCredential(whyIn(parsed) ?? text.slice(0, 300), credential);
      return { ...none, ok: false, status, durationMs, message, upstreamRequestId };
    }
    const report = parsed === null ? null : family.readUsage(ask, parsed);
    if (parsed === null) {
      const message = 'it answered 2xx with a body that is not JSON; check its address';
      return { ...none, ok: false, status, durationMs, message, upstreamRequestId };
    }
    const cost = report && offer.price ? price(report, offer.price.price, new Map()).costNano : null;
    return {
      ok: true,
      status,
      durationMs,
      message: null,
      upstreamRequestId,
      input: report?.usage.input ?? null,
      output: report?.usage.output ?? null,
      cost: cost === null ? null : formatUsd(cost),
    };
  } catch (error) {
    const durationMs = Math.round(performance.now() - began);
    const message = maskCredential(whyUnreachable(error, url, limitMs), credential);
    return { ...none, ok: false, status: null, durationMs, message };
  }
}

/** An own address is connected to only if it is public (contract: own-keys/address). */
function dispatcherOf(pools: Pools, { own }: CredentialFacts, { origin }: URL) {
  return own?.address ? pools.guarded(origin, limitMs) : pools.for(origin, limitMs);
}

function budgetOf({ id }: Family, { outputBudgetField }: OfferFacts): object {
  if (id === 'generate-content') return { generationConfig: { maxOutputTokens: budgetTokens } };
  if (id === 'responses') return { max_output_tokens: budgetTokens, store: false };
  return { [(id === 'chat' && outputBudgetField) || 'max_tokens']: budgetTokens };
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The message of an error, which is `error.message` in all families. */
function whyIn(parsed: unknown): string | null {
  const error = memberOf(parsed, 'error');
  const message = memberOf(error, 'message') ?? memberOf(parsed, 'message') ?? error;
  return typeof message === 'string' ? message.slice(0, 300) : null;
}
