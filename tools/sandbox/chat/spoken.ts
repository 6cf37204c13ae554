/** The name under which a spoken choice can be repeated. */
export function spokenName(head: Readonly<Record<string, unknown>>, index: number): { readonly id: string } {
  return { id: `audio_${String(head.id).replace('chatcmpl-', '')}_${index}` };
}

/** Audio for a string: one byte of noise per character, in base64. */
export function spokenSound(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}
