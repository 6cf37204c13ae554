import { z } from 'zod';
import { type Field, type Fields, sentencesOf, type ValueOf } from '#lib/control/operations/field/field';
import { formatUsd } from '#lib/core/money';

/** Settings of a thing as JSON: money as decimal strings, times in ISO. */
export type ShownSettings<S extends Fields> = { -readonly [N in keyof S]: Shown<ValueOf<S[N]>> };
type Shown<Value> = Value extends bigint | Date ? string : Value;

/**
 * The columns that settings write; omitted ones are left out. The column of a setting has the same
 * name; of money, that name and "Nano"; a list of models also has `allModels`.
 */
export function columnsOf(
  settings: Fields,
  values: Readonly<Record<string, unknown>>,
): Record<string, never> {
  const columns: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(settings)) {
    const value = values[name];
    if (value === undefined) continue;
    if (field.kind === 'money') columns[`${name}Nano`] = value;
    else if (field.kind === 'models') {
      columns.allModels = value === null;
      columns[name] = value ?? [];
    } else columns[name] = value;
  }
  // Fits every column: Prisma refuses unknown columns and other types.
  return columns as Record<string, never>;
}

/** The settings of a stored row, as JSON. */
export function shownSettings<S extends Fields>(settings: S, row: object): ShownSettings<S> {
  const stored = new Map(Object.entries(row));
  const shown = Object.entries(settings).map(([name, field]) => [name, shownValue(name, field, stored)]);
  // The members are those of `settings`, each in the form of its kind.
  return Object.fromEntries(shown) as ShownSettings<S>;
}

function shownValue(name: string, field: Field, stored: ReadonlyMap<string, unknown>): unknown {
  if (field.kind === 'models') return stored.get('allModels') === true ? null : (stored.get(name) ?? []);
  const value = stored.get(field.kind === 'money' ? `${name}Nano` : name);
  if (typeof value === 'bigint') return formatUsd(value);
  return value instanceof Date ? value.toISOString() : (value ?? null);
}

/** The schemas of shown settings, for the answer of a read. */
export function shapeOf<S extends Fields>(settings: S): { [N in keyof S]: z.ZodType<Shown<ValueOf<S[N]>>> } {
  const shapes = Object.entries(settings).map(([name, field]) => {
    const shape = field.clearable ? kindShape(field).nullable() : kindShape(field);
    return [
      name,
      shape.meta({
        title: field.label,
        description: sentencesOf({
          label: field.label,
          help: field.help,
          ...(field.unit && { unit: field.unit }),
        }),
      }),
    ];
  });
  return Object.fromEntries(shapes) as { [N in keyof S]: z.ZodType<Shown<ValueOf<S[N]>>> };
}

function kindShape(field: Field): z.ZodType {
  if (field.kind === 'count') return z.int();
  if (field.kind === 'switch') return z.boolean();
  if (field.kind === 'models') return z.array(z.string());
  if (field.kind === 'moment') return z.iso.datetime();
  return field.choices ? z.enum([...field.choices]) : z.string();
}
