import { type Refusal, refusal } from '#lib/core/errors';
import { type Ability, abilities, abilityWords } from '#lib/core/facts/abilities';
import type { OfferFacts } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { familyOf } from '#lib/core/families/index';
import { writtenOperation } from '#lib/core/families/served';
import { isTextProtocol } from '#lib/core/translation/conversation';
import { spokenFamily } from '#lib/gateway/routing/pure/translate';

/**
 * What a request asks of an offer (contract: routing/abilities). Each ability is looked for in the request only if an
 * offer lacks it, and then once.
 */
export class Asked {
  readonly #ask: Ask;
  readonly #family: FamilyId;
  #known: Map<Ability, boolean> | null = null;

  /** @param family the client's protocol. */
  constructor(ask: Ask, family: FamilyId) {
    this.#ask = ask;
    this.#family = family;
  }

  /** Why an offer cannot serve the request; null: it can, or it is not known that it cannot. */
  whyNot(offer: OfferFacts): 'operation' | 'ability' | null {
    const { lacks, unserved } = offer;
    if (unserved.size > 0 && unserved.has(this.operationAt(offer))) return 'operation';
    // Without a price, what is kept could not be charged (contract: batches/caches).
    if (this.#ask.cache && offer.price?.price.base.cacheStorage === undefined) return 'operation';
    return lacks.length > 0 && lacks.some((one) => this.#asks(one)) ? 'ability' : null;
  }

  /** The operation by which an offer would be called. */
  operationAt(offer: OfferFacts): string {
    const { operation, stream } = this.#ask;
    const to = spokenFamily(offer, this.#family);
    if (to === null || to === this.#family || !isTextProtocol(to)) return operation.name;
    return writtenOperation(to, stream);
  }

  /** What the request asks for and the offer lacks. */
  lackedBy({ lacks }: OfferFacts): readonly Ability[] {
    return lacks.filter((one) => this.#asks(one));
  }

  #asks(ability: Ability): boolean {
    // Counting and reading need nothing but the operation.
    if (this.#ask.operation.steps !== 'generate') return false;
    this.#known ??= new Map();
    const known = this.#known.get(ability);
    if (known !== undefined) return known;
    const asked = this.#read(ability);
    this.#known.set(ability, asked);
    return asked;
  }

  #read(ability: Ability): boolean {
    if (ability === 'streaming') return this.#ask.stream;
    if (ability === 'webSearch') return this.#ask.weight.searchTools > 0;
    return familyOf(this.#family)?.abilities?.[ability]?.(this.#ask) ?? false;
  }
}

/** An offer that could be called but for what the request asks. */
export interface UnableOffer {
  readonly offer: OfferFacts;
  readonly why: 'operation' | 'ability';
}

/**
 * 400: the offers that could be called cannot do what the request asks (contract: routing/no-target).
 * @param unable at least one.
 */
export function unableToServe(slug: string, asked: Asked, unable: readonly UnableOffer[]): Refusal {
  const lacked = new Set(unable.flatMap(({ offer }) => asked.lackedBy(offer)));
  const providers = [...new Set(unable.map(({ offer }) => offer.provider.id))].join(', ');
  const [first] = unable;
  const missing = abilityWords(abilities.filter((one) => lacked.has(one)));
  const what = missing || `the operation ${first ? asked.operationAt(first.offer) : ''}`;
  const advice = missing ? 'leave that out, or choose another model' : 'choose another model';
  return refusal(
    'model_not_allowed',
    `Model ${slug} does not support ${what} here (${providers}); ${advice} from GET /v1/models.`,
  );
}
