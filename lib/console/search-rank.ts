/**
 * How well a name fits a search, for sorting: 0 it is the name, or what stands behind its last slash; 1 the name or that
 * part begins with it; 2 a word of the name does; 3 the name contains it; 4 it matched by something else. Pure.
 */
export function rankOf(name: string, sought: string): number {
  const text = sought.trim().toLowerCase();
  const whole = name.toLowerCase();
  const last = whole.slice(whole.lastIndexOf('/') + 1);
  if (text === '' || whole === text || last === text) return 0;
  if (whole.startsWith(text) || last.startsWith(text)) return 1;
  if (!whole.includes(text)) return 4;
  return whole.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(text)) ? 2 : 3;
}
