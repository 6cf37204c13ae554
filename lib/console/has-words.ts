/**
 * Whether a text contains every word of a search, in any order and case. A word of one or two characters matches only
 * the beginning of a word. Pure.
 */
export function hasWords(text: string, sought: string): boolean {
  const lower = text.toLowerCase();
  const words = lower.split(/[\s,/]+/);
  return sought
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => (word.length < 3 ? words.some((one) => one.startsWith(word)) : lower.includes(word)));
}
