import { readFileSync } from 'node:fs';

/** Variables by their names. */
export type Source = Readonly<Record<string, string | undefined>>;

/** The variable that names a file with the value of another variable. */
export function fileSettingOf(name: string): string {
  return `${name}_FILE`;
}

/** The value of a variable, or the contents of the file that `NAME_FILE` names (contract: operations/setting-files). */
export function readGiven(
  source: Source,
  name: string,
): { readonly value: string | null; readonly problem: string | null } {
  const value = source[name]?.trim() || null;
  const fileName = fileSettingOf(name);
  const path = source[fileName]?.trim();
  if (!path) return { value, problem: null };
  if (value !== null) return { value, problem: `${name}: set this or ${fileName}, not both.` };
  try {
    return { value: readFileSync(path, 'utf8').trim() || null, problem: null };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    const remedy = `Make it readable by this process, or set ${name} instead.`;
    return { value, problem: `${fileName}: ${path} cannot be read${code}. ${remedy}` };
  }
}
