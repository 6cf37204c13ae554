import { isRefusal } from '#lib/core/errors';
import { familyOf } from '#lib/core/families/index';
import { type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import { scan } from '#lib/core/families/scan';
import type { TextProtocol, Unreadable } from '#lib/core/translation/conversation';
import { outgoing } from '#lib/gateway/flow/attempt/outgoing';
import { translateCall } from '#lib/gateway/flow/attempt/translate-call';
import { extendCall } from '#lib/gateway/flow/call/call';
import type { Target } from '#lib/gateway/routing/pure/target';
import { translatedBudget } from '#lib/gateway/routing/pure/translate';
import { ClientRequest } from '#lib/gateway/translation/pure/client-request';
import { calledBy, makeModel, makeOffer } from '#tests/unit/families/make';
import { plannedCall } from '#tests/unit/gateway/make-call';

/** What a provider gets of a translated request. */
export interface Sent {
  readonly body: JsonObject;
  readonly path: string;
  /** Header of Anthropic's protocol; undefined: none. */
  readonly betas: string | undefined;
  readonly lost: readonly string[];
}

export interface Upstream {
  /** The provider's name of the model. */
  readonly name?: string;
  /** Slug of the model: its maker is the part before the slash. */
  readonly slug?: string;
  readonly reasoning?: boolean;
  readonly maxOutputTokens?: number;
}

const names: Readonly<Record<TextProtocol, { readonly whole: string; readonly stream: string }>> = {
  chat: { whole: 'chat.create', stream: 'chat.create' },
  responses: { whole: 'responses.create', stream: 'responses.create' },
  messages: { whole: 'messages.create', stream: 'messages.create' },
  'generate-content': { whole: 'content.generate', stream: 'content.stream' },
};

/** A request as the gateway sends it to a model of another protocol, or why it does not. */
export async function sendAs(
  from: TextProtocol,
  to: TextProtocol,
  request: object,
  { name = 'upstream-name', slug = 'vendor/name', reasoning = false, maxOutputTokens = 8_000 }: Upstream = {},
): Promise<Sent | Unreadable> {
  const family = familyOf(from);
  const stream = 'stream' in request && request.stream === true;
  const operation = family?.operations.find((one) => one.name === names[from][stream ? 'stream' : 'whole']);
  if (!family || !operation) throw new Error(`${from} has no operation`);
  const scanned = scan(Buffer.from(JSON.stringify(request)), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  const ask = family.readAsk({ operation, params: { model: 'any' }, scan: scanned });
  if (isRefusal(ask)) return { field: '', message: ask.message };
  const offer = makeOffer({ modelId: slug, upstreamModel: name, families: new Set([to]) });
  const model = makeModel({ id: slug, reasoning, maxOutputTokens, offers: [offer] });
  const target: Target = {
    model,
    offer,
    family: to,
    address: new URL('https://provider.test/v1'),
    ...calledBy(),
    price: {
      id: 'p',
      effectiveAtMs: 0,
      price: { base: { input: 0n, output: 0n }, tiers: [], serviceTiers: {} },
    },
    injectBudget: translatedBudget(ask, null, model),
  };
  const call = extendCall(plannedCall(family, ask, [target]), {
    clientRequest: new ClientRequest(from, () => scanned.body),
  });
  const translated = await translateCall(call, target);
  if ('message' in translated) return translated;
  translated.abandon();
  const { body, path, headers } = outgoing(translated.sent, target);
  const at = headers.indexOf('anthropic-beta');
  return {
    body: objectIn(parseJson(Buffer.from(body as Uint8Array).toString())) ?? {},
    path,
    betas: at < 0 ? undefined : headers[at + 1],
    lost: translated.lost,
  };
}
