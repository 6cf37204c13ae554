/** Parts of a draft, which may be anything: values of the wrong shape are read as empty. */

export type DraftPolicy = Readonly<Record<string, unknown>>;

export function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.filter((one) => typeof one === 'string'))] : [];
}

export function recordOf(value: unknown): DraftPolicy {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** What a box shows: numbers and texts as they are. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The contents of a box, as JSON: a number if it is one, else the text, so that the error is shown at its place. */
export function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^\d{1,15}(\.\d{1,9})?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** The policy with a key set; undefined removes it. */
export function withKey(policy: DraftPolicy, key: string, value: unknown): DraftPolicy {
  const { [key]: _old, ...rest } = policy;
  return value === undefined ? rest : { ...rest, [key]: value };
}

/** A record with an entry set; undefined when none is left. */
export function withEntry(record: DraftPolicy, name: string, value: unknown): DraftPolicy | undefined {
  const next = withKey(record, name, value);
  return Object.keys(next).length > 0 ? next : undefined;
}
