import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import {
  type Conversation,
  isTextProtocol,
  isUnreadable,
  type TextProtocol,
  type Unreadable,
} from '#lib/core/translation/conversation';
import { findLosses } from '#lib/core/translation/fates';
import { translations } from '#lib/core/translation/index';
import type { Target } from '#lib/gateway/routing/pure/target';
import { makerOf } from '#lib/gateway/routing/pure/translate';
import { prepareFor } from '#lib/gateway/translation/pure/prepare';

/** A request as it is written for one target. */
export interface Translatable {
  readonly conversation: Conversation;
  /** Paths of fields that are left out, as `messages[].name` (contract: translation/losses). */
  readonly lost: readonly string[];
}

/**
 * A client's request that may have to be translated: its body is parsed and read at most once, and only when a target
 * of another protocol is looked at.
 */
export class ClientRequest {
  readonly protocol: TextProtocol;
  #body: JsonObject | null = null;
  readonly #bytes: () => Uint8Array;
  #read: { readonly conversation: Conversation; readonly echo: JsonObject } | Unreadable | null = null;
  #echo: JsonObject = {};

  /** The request of a call; null: calls of its family are never translated. */
  static of(family: FamilyId, { scan }: Pick<Ask, 'scan'>): ClientRequest | null {
    return isTextProtocol(family) ? new ClientRequest(family, () => scan.body) : null;
  }

  /** @param bytes the body, which was found to be a JSON object. */
  constructor(protocol: TextProtocol, bytes: () => Uint8Array) {
    this.protocol = protocol;
    this.#bytes = bytes;
  }

  /** What the writer of the answer repeats of the request. */
  get echo(): JsonObject {
    return this.#echo;
  }

  /** Why the request cannot be written for a target: the field, and what to send instead; null: it can. */
  misfit(target: Target): Unreadable | null {
    const written = this.writeFor(target);
    return 'message' in written ? written : null;
  }

  /** The request for a target, or why it cannot be written for it. */
  writeFor({ family, model, injectBudget }: Target): Translatable | Unreadable {
    if (!isTextProtocol(family))
      return { field: 'model', message: 'Its protocol does not answer with text.' };
    const body = this.#parse();
    const read = this.#readOnce(body);
    if (isUnreadable(read)) return read;
    const { lost, refused } = findLosses(body, translations[this.protocol].fields, family);
    if (refused) return refused;
    const conversation = prepareFor(family, read.conversation, {
      maker: makerOf(model.id),
      budget: injectBudget ?? 0,
      reasoning: model.reasoning,
    });
    return 'message' in conversation ? conversation : { conversation, lost };
  }

  /** Frees the body once no further attempt will be made. */
  free(): void {
    this.#body = null;
    this.#read = null;
  }

  #parse(): JsonObject {
    this.#body ??= objectIn(parseJson(Buffer.from(this.#bytes()).toString('utf8'))) ?? {};
    return this.#body;
  }

  #readOnce(body: JsonObject) {
    if (this.#read === null) {
      this.#read = translations[this.protocol].read(body);
      if (!isUnreadable(this.#read)) this.#echo = this.#read.echo;
    }
    return this.#read;
  }
}
