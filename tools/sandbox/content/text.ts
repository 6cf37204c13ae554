const words = [
  ' the',
  ' model',
  ' answers',
  ' in',
  ' small',
  ' pieces',
  ' –',
  ' déjà',
  ' vu',
  ' straße',
  ' naïve',
  '你好',
  '世界',
  '模型',
  'こんにちは',
  ' 안녕',
  ' привет',
  ' 🌍',
  '👩‍🚀',
  '🇪🇺',
  ' 𝒳',
  ' “quoted”',
  ' \\',
  ' "',
  '\n',
  ' 1e3',
  ' — and',
  ' so',
  ' on',
];

/** FNV-1a over the UTF-16 units: the same prompt always gives the same answer. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Pieces of at most 8 characters, never inside a code point. */
function split(text: string): string[] {
  return text.match(/.{1,8}/gsu) ?? [];
}

/**
 * The answer to a prompt, one piece per token: first the prompt's own words, then text with characters of one to
 * four bytes, all decided by the prompt.
 * @param count number of pieces; null: the prompt's length and 12 to 43 more.
 */
export function* pieces(prompt: string, choice: number, count: number | null): Generator<string> {
  const echoed = split(prompt.slice(0, 500).toWellFormed());
  let state = (seedOf(prompt) ^ Math.imul(choice, 0x9e3779b9)) >>> 0 || 1;
  const total = count ?? echoed.length + 12 + (state % 32);
  for (let at = 0; at < total; at++) {
    const own = choice === 0 ? echoed[at] : undefined;
    if (own !== undefined) {
      yield own;
      continue;
    }
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield words[(state >>> 0) % words.length] ?? ' ';
  }
}
