/**
 * What a stranger wrote, without what cannot be seen: controls, and the marks that turn the direction of
 * the text, with which a name reads as another one.
 */
export function showForeign(text: string): string {
  return text.replace(/[\p{Cc}\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu, '\uFFFD');
}
