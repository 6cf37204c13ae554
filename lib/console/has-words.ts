/**
 * Whether a text has every word that is sought, in any order and case: a word of the text begins with it, or contains it
 * from its third character on. Pure.
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
