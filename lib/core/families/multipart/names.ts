import type { FieldSpec } from '#lib/core/families/scan';
import {
  compileSpec,
  type Level,
  type Rule,
  type Spelling,
  spellingNamed,
} from '#lib/core/families/scan/spec';

/**
 * Which field of the operation a part's name is: `model`, or `svg[model]` for one inside an object.
 * @returns null for a name that the gateway does not read; a sentence's end for one that a reader which
 * folds case, trims, decodes or takes lists could take for one that it does (contract: body/multipart-agreement).
 */
export function fieldNamed(spec: FieldSpec, name: string): Rule | string | null {
  // RFC 7578 lets such a part change the charset of all others, and some parsers follow it.
  if (loosened(name).toLowerCase() === '_charset_')
    return 'sets a charset; send all parts as UTF-8 without it';
  const root = compileSpec(spec);
  const exact = follow(root, segmentsOf(name));
  if (exact?.exact) return exact.rule;
  const likeness = exact ?? follow(root, segmentsOf(loosened(name)));
  if (likeness === null) return null;
  return `has a name that resembles "${bracketed(likeness.rule)}"; spell it exactly so, and send it once`;
}

/** "svg[model]" as its steps; a list's empty brackets are a step of their own. */
function segmentsOf(name: string): readonly string[] {
  const found = /^([^[\]]*)((?:\[[^[\]]*\])*)$/.exec(name);
  if (!found) return [name];
  const inner = (found[2] ?? '').match(/[^[\]]+|(?<=\[)(?=\])/g) ?? [];
  return [found[1] ?? '', ...inner];
}

function follow(root: Level, segments: readonly string[]): { rule: Rule; exact: boolean } | null {
  let level: Level | null = root;
  let rule: Rule | null = null;
  let exact = true;
  for (const segment of segments) {
    const spelling: Spelling | null = level && spellingNamed(level, segment);
    // After a value that is not an object, brackets are another way to write the value itself.
    if (!spelling) return rule !== null && level === null ? { rule, exact: false } : null;
    rule = spelling.rule;
    // Lists come as parts of their own, under names that decide nothing.
    if (rule.elements) return null;
    exact &&= spelling.exact;
    level = rule.members;
  }
  if (rule === null) return null;
  // An object itself as one text: its members could then not be seen. A file has none.
  return { rule, exact: exact && (rule.members === null || rule.part === 'file') };
}

/** As a lenient parser might see it. */
function loosened(name: string): string {
  const decoded = name.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  // Parsers made for mail strip angle brackets from a name.
  const bare = decoded
    .normalize('NFKC')
    .trim()
    .replace(/^<(.*)>$/s, '$1');
  const [first = '', ...rest] = bare.trim().split('.');
  return first + rest.map((step) => `[${step}]`).join('');
}

function bracketed({ path }: Rule): string {
  const [first, ...rest] = path.split('.');
  return first + rest.map((step) => `[${step}]`).join('');
}
