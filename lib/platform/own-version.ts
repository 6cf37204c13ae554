import { readFileSync } from 'node:fs';

/** The version of this program, as package.json says it. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const found: unknown = JSON.parse(text);
  const named = typeof found === 'object' && found !== null && 'version' in found;
  return named && typeof found.version === 'string' ? found.version : 'unknown';
}
