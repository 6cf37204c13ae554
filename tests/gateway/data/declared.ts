import { readFileSync } from 'node:fs';

/** One line for each table, column, key, index and reference, in words that declared and stored share. */
export type Shape = readonly string[];

const scalars: Record<string, string> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Float: 'double precision',
  Decimal: 'numeric',
  Json: 'jsonb',
  Bytes: 'bytea',
  DateTime: 'timestamp(3) with time zone',
};

/** Native types that are not the usual ones of their scalar. */
const natives = [
  ['@db.Uuid', 'uuid'],
  ['@db.Json', 'json'],
  ['@db.Real', 'real'],
  ['@db.Timestamptz(6)', 'timestamp(6) with time zone'],
] as const;

interface Model {
  readonly name: string;
  readonly table: string;
  readonly lines: readonly string[];
}

interface Field {
  readonly name: string;
  readonly column: string;
  readonly type: string;
  readonly suffix: string;
  readonly attributes: string;
}

/** What prisma/schema.prisma promises of the database. It stands one field per line. */
export function declaredShape(file: string): Shape {
  const models = [...readFileSync(file, 'utf8').matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].map(modelOf);
  return models.flatMap((model) => shapeOf(model, models)).sort();
}

function modelOf([, name = '', body = '']: RegExpMatchArray): Model {
  const lines = body.split('\n').map((line) => line.replace(/\s\/\/.*$/, '').trim());
  return { name, lines, table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name };
}

function fieldsOf(model: Model): Field[] {
  return model.lines.flatMap((line) => {
    const [, name, type, suffix = '', attributes = ''] = /^(\w+)\s+(\w+)(\?|\[\])?\s*(.*)$/.exec(line) ?? [];
    if (!name || !type) return [];
    return [{ name, type, suffix, attributes, column: /@map\("(\w+)"\)/.exec(attributes)?.[1] ?? name }];
  });
}

function shapeOf(model: Model, models: readonly Model[]): Shape {
  const { table } = model;
  const fields = fieldsOf(model);
  const columns = (list: string) =>
    list
      .split(',')
      .map((part) => fields.find((field) => field.name === part.trim())?.column ?? `unknown ${part}`);
  const index = ([kind, ending]: readonly [string, string], names: readonly string[]) =>
    `${table}: ${kind} ${table}_${ending === 'pkey' ? '' : `${names.join('_')}_`}${ending} (${names.join(', ')})`;
  const kinds = { id: ['primary key', 'pkey'], unique: ['unique', 'key'], index: ['index', 'idx'] } as const;
  const perField = fields.flatMap((field) => {
    const type = scalars[field.type];
    if (!type) return referenceOf(model, field, models, columns);
    const own = (['id', 'unique'] as const).filter((kind) =>
      new RegExp(`@${kind}\\b`).test(field.attributes),
    );
    return [columnOf(table, field, type), ...own.map((kind) => index(kinds[kind], [field.column]))];
  });
  const perModel = model.lines.flatMap((line) => {
    const [, kind, list] = /^@@(id|unique|index)\(\[([^\]]+)\]/.exec(line) ?? [];
    if (!list || !(kind === 'id' || kind === 'unique' || kind === 'index')) return [];
    return [index(kinds[kind], columns(list))];
  });
  return [...perField, ...perModel];
}

function columnOf(table: string, field: Field, scalar: string): string {
  const list = field.suffix === '[]';
  const type = natives.find(([attribute]) => field.attributes.includes(attribute))?.[1] ?? scalar;
  // A list is never null to Prisma, and its column is made without NOT NULL.
  const nullable = list || field.suffix === '?' ? ' null' : '';
  const standard = /@default\((?!uuid|cuid)/.test(field.attributes) ? ' default' : '';
  return `${table}.${field.column}: ${type}${list ? '[]' : ''}${nullable}${standard}`;
}

function referenceOf(
  { table }: Model,
  field: Field,
  models: readonly Model[],
  columns: (list: string) => string[],
): Shape {
  const [, from] = /fields: \[([^\]]+)\]/.exec(field.attributes) ?? [];
  const target = models.find((model) => model.name === field.type);
  if (!from || !target) return [];
  const names = columns(from);
  const onDelete = /onDelete: (\w+)/.exec(field.attributes)?.[1] ?? 'Restrict';
  return [
    `${table}: reference ${table}_${names.join('_')}_fkey to ${target.table} on delete ${onDelete} on update Cascade`,
  ];
}
