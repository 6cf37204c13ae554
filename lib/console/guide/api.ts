import { lexer, type Token } from 'marked';
import { z } from 'zod';
import { openApiOf } from '#lib/control/management/document/document';
import { operations } from '#lib/control/operations/operations';

/** What the page shows of a JSON Schema. */
interface Schema {
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly items?: Schema | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(schema).optional(),
    items: schema.optional(),
    description: z.string().optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
  }),
);
const parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  schema,
});
const content = z.looseObject({ 'application/json': z.looseObject({ schema }) });
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).default([]),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(z.union([parameter, z.looseObject({ $ref: z.string() })])).default([]),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: content.optional() })),
});
/** What the page of the management API uses of our OpenAPI document. */
const document = z.looseObject({
  info: z.looseObject({ description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
});

export interface ApiField {
  readonly name: string;
  /** "query", "path", "body". */
  readonly place: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
}
export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly who: string;
  readonly takes: readonly ApiField[];
  readonly answers: readonly ApiField[];
}
export interface ApiGroup {
  readonly name: string;
  readonly operations: readonly ApiOperation[];
}

let described: { readonly overview: readonly Token[]; readonly groups: readonly ApiGroup[] } | null = null;

/** The management API, from its OpenAPI document. */
export function describedApi() {
  if (described) return described;
  const { info, paths } = document.parse(openApiOf(operations));
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      tag: one.tags[0] ?? 'document',
      shown: showOperation(method, path, one),
    })),
  );
  const groups = [...new Set(all.map(({ tag }) => tag))].map((name) => ({
    name,
    operations: all.filter(({ tag }) => tag === name).map(({ shown }) => shown),
  }));
  // The operation that returns the document comes first in it, but last on the page.
  groups.sort((one, other) => Number(one.name === 'document') - Number(other.name === 'document'));
  described = { overview: lexer(info.description), groups };
  return described;
}

function showOperation(method: string, path: string, one: z.output<typeof operation>): ApiOperation {
  const parameters = one.parameters.flatMap((given) => {
    const named = parameter.safeParse(given);
    return named.success
      ? [fieldOf(named.data.name, named.data.in, named.data.required, named.data.schema)]
      : [];
  });
  const body = one.requestBody?.content['application/json'].schema;
  const success = one.responses['200'] ?? one.responses['201'];
  return {
    id: one.operationId,
    method: method.toUpperCase(),
    path: `/api/v1${path}`,
    summary: one.summary,
    who: one.description,
    takes: [...parameters, ...fieldsOf(body, 'body')],
    answers: fieldsOf(success?.content?.['application/json'].schema, 'answer'),
  };
}

function fieldsOf(of: Schema | undefined, place: string): ApiField[] {
  return Object.entries(of?.properties ?? {}).map(([name, field]) =>
    fieldOf(name, place, of?.required?.includes(name), field),
  );
}

function fieldOf(name: string, place: string, required: boolean | undefined, of: Schema): ApiField {
  return { name, place, required: required ?? false, type: typeText(of), description: of.description ?? '' };
}

/** "string", "integer or null", "list of string", "one of a, b". */
function typeText({ type, enum: words, anyOf, items }: Schema): string {
  if (words) return `one of ${words.map(String).join(', ')}`;
  if (anyOf) return [...new Set(anyOf.map(typeText))].join(' or ');
  const names = [type ?? 'any'].flat();
  return names
    .map((name) => (name === 'array' ? `list of ${items ? typeText(items) : 'any'}` : name))
    .join(' or ');
}
