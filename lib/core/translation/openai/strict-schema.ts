import { listIn, objectIn } from '#lib/core/families/reading/json';

/** Keywords that OpenAI refuses in a strict schema. */
const refused = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
];

/**
 * Whether OpenAI accepts a JSON schema as strict: every object requires all of its properties and allows no others.
 * Other protocols have no such rule, so that a client of theirs may send any schema.
 */
export function fitsStrict(schema: unknown): boolean {
  const root = objectIn(schema);
  if (root?.type !== 'object') return false;
  const open: unknown[] = [root];
  while (open.length > 0) {
    const node = objectIn(open.pop());
    if (!node) continue;
    if (refused.some((keyword) => keyword in node)) return false;
    const properties = objectIn(node.properties) ?? {};
    const types = typeof node.type === 'string' ? [node.type] : listIn(node.type);
    if (types.includes('object') || 'properties' in node) {
      const required = listIn(node.required);
      if (node.additionalProperties !== false) return false;
      if (!Object.keys(properties).every((name) => required.includes(name))) return false;
    }
    open.push(...Object.values(properties), ...listIn(node.anyOf), node.items);
    for (const name of ['$defs', 'definitions']) open.push(...Object.values(objectIn(node[name]) ?? {}));
  }
  return true;
}
