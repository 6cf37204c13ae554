/**
 * Untrusted text without what cannot be seen: control characters, and marks that reverse the direction of
 * text, so that a name looks like another one.
 */
export function showForeign(text: string): string {
  return text.replace(/[\p{Cc}\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu, '\uFFFD');
}
