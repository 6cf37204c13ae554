import { dayEnd } from '#lib/console/day-end';
import type { Field, FieldFacts, FieldKind, Fields } from '#lib/control/field/field';
import { badInput } from '#lib/control/refusal';

/** A field as a form in the browser needs it: plain data. */
export interface FormField extends Pick<FieldFacts, 'label' | 'help' | 'unit' | 'empty' | 'group'> {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly example: string | null;
  readonly choices: readonly string[];
}

/** The form of an operation's fields, in their order. */
export function formOf(fields: Fields): FormField[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    kind: field.kind,
    required: field.required,
    label: field.label,
    help: field.help,
    example: typeof field.example === 'string' ? field.example : null,
    choices: field.choices ?? [],
    ...(field.unit === undefined ? {} : { unit: field.unit }),
    ...(field.empty === undefined ? {} : { empty: field.empty }),
    ...(field.group === undefined ? {} : { group: field.group }),
  }));
}

interface Place {
  /** IANA zone of the workspace, in which days end. */
  readonly zone: string;
  readonly nowMs: number;
}

/** What a form sent as the input of its operation: texts are read as each field reads them. */
export function readForm(fields: Fields, sent: unknown, place: Place): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent;
  const read = Object.entries(sent).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value !== 'string' || field === undefined) return [[name, value]];
    // An empty box of a field that cannot be removed was not filled in.
    if (value === '' && !field.required && !field.clearable) return [];
    return [[name, readText(name, field, value, place)]];
  });
  return Object.fromEntries(read);
}

/** A day means its last second in the workspace's zone. */
function readText(name: string, field: Field, text: string, { zone, nowMs }: Place): unknown {
  if (field.kind !== 'moment' || text === '') return field.fromText(text);
  const end = dayEnd(text, zone);
  const moment = end ?? new Date(text);
  if (Number.isNaN(moment.getTime())) throw badInput(name, 'choose the last day');
  if (moment.getTime() <= nowMs) throw badInput(name, 'this day is over; choose a later one');
  // ISO writes it with a sign and six digits, which no field reads.
  if (moment.getUTCFullYear() > 9999) throw badInput(name, 'choose a day before the year 2200');
  return moment.toISOString();
}
