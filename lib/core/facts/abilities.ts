/** What an offer may be able to do beyond answering with text (contract: routing/abilities). */
export const abilities = [
  'tools',
  'schemas',
  'images',
  'pdf',
  'audio',
  'video',
  'thinking',
  'webSearch',
  'streaming',
  'caching',
] as const;
export type Ability = (typeof abilities)[number];

/** What is known of an offer: yes or no; absent: the catalogue does not say, so that calls may try. */
export type Abilities = Readonly<Partial<Record<Ability, boolean>>>;

/**
 * What an offer says of itself, and its model of all its offers.
 * @returns the abilities that it is known not to have, and which decide where a call goes.
 */
export function lackedBy(known: Abilities): readonly Ability[] {
  return abilities.filter((one) => known[one] === false && one !== 'caching');
}

/**
 * What is known of a model by its offers: what one of them can do, and what none of them can. An ability of which an
 * offer does not speak is left out, unless another one has it.
 */
export function abilitiesOf(offers: readonly { readonly abilities: Abilities }[]): Abilities {
  const known: Partial<Record<Ability, boolean>> = {};
  for (const one of abilities) {
    const said = offers.map((offer) => offer.abilities[one]);
    if (said.includes(true)) known[one] = true;
    else if (said.length > 0 && said.every((yes) => yes === false)) known[one] = false;
  }
  return known;
}

/** For messages: "images", "tools". */
const words: Readonly<Record<Ability, string>> = {
  tools: 'tools',
  schemas: 'answers by a JSON schema',
  images: 'images',
  pdf: 'PDF files',
  audio: 'audio',
  video: 'video',
  thinking: 'thinking',
  webSearch: 'web search',
  streaming: 'streams',
  caching: 'prompt caching',
};

/** Abilities in words, for people: "tools, images". */
export function abilityWords(some: readonly Ability[]): string {
  return some.map((one) => words[one]).join(', ');
}
