/**
 * The grammar of a simulated model's name:
 *
 *   [sandbox/] [pace/MS/CHUNKS/] ( fault/NAME[@N] | BASE ) [?key=value&…]
 *
 * A prompt may contain such a name in double brackets, which then decides: "Say hello [[pace/5/200]]".
 */
export interface ModelName {
  /** A plain model; "echo" if the name has none. */
  readonly base: string;
  readonly fault: string | null;
  /** The N of `@N`: content chunks sent before the fault strikes. */
  readonly at: number | null;
  readonly pace: Pace | null;
  readonly params: ReadonlyMap<string, string>;
}

export interface Pace {
  /** Between content chunks, ms. */
  readonly gapMs: number;
  readonly chunks: number;
}

const shape = /^(?:sandbox\/)?(?:pace\/(\d+)\/(\d+)(?:\/|(?=\?|$)))?([^?]*)(?:\?(.*))?$/s;
const faultShape = /^fault\/([a-z0-9-]+)(?:@(\d+))?$/;

/** @returns the parts; a name outside the grammar becomes a base that no model has. */
export function parseName(text: string): ModelName {
  const [, gapMs, chunks, rest = '', query = ''] = shape.exec(text) ?? [];
  const pace = gapMs && chunks ? { gapMs: Number(gapMs), chunks: Number(chunks) } : null;
  const params = new Map(new URLSearchParams(query));
  const fault = faultShape.exec(rest);
  if (fault?.[1]) {
    const at = fault[2] === undefined ? null : Number(fault[2]);
    return { base: 'echo', fault: fault[1], at, pace, params };
  }
  return { base: rest === '' && pace ? 'echo' : rest, fault: null, at: null, pace, params };
}

const directive = /\[\[([^[\]]{1,200})\]\]/;

/** The name in double brackets in a prompt; null: none. */
export function findDirective(prompt: string): string | null {
  return directive.exec(prompt)?.[1]?.trim() ?? null;
}

/** The prompt without its directive, as the answer echoes it. */
export function withoutDirective(prompt: string): string {
  return prompt.replace(directive, '').trim();
}

/** A non-negative whole number among the parameters, otherwise the default. */
export function numberParam(name: ModelName, key: string, otherwise: number): number {
  const value = Number(name.params.get(key));
  return name.params.has(key) && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

/**
 * The name that decides about a request on something stored, from the name of the model that created it: its
 * parameter `get`, `post` or `delete` is itself a name ("echo?get=fault/status-500"); otherwise nothing
 * happens.
 */
export function keptName(model: string, method: string): string {
  return parseName(model).params.get(method.toLowerCase()) ?? 'echo';
}
