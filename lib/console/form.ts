import type { FieldFacts, FieldKind, Fields } from '#lib/control/operations/field/field';

/** A field as plain data, for a form in the browser. */
export interface FormField
  extends Pick<FieldFacts, 'label' | 'help' | 'unit' | 'lines' | 'empty' | 'group' | 'choiceNames'> {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly example: string | null;
  readonly choices: readonly string[];
}

/** The form of an operation's fields, in order. */
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
    ...(field.lines && { lines: true }),
    ...(field.empty === undefined ? {} : { empty: field.empty }),
    ...(field.group === undefined ? {} : { group: field.group }),
    ...(field.choiceNames === undefined ? {} : { choiceNames: field.choiceNames }),
  }));
}

/** What a form calls a word of a choice: its name, or the word as a sentence begins. */
export function choiceName(field: Pick<FormField, 'choiceNames'>, word: string): string {
  return field.choiceNames?.[word] ?? `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** A submitted form as the input of its operation: each field parses its own text. */
export function readForm(fields: Fields, sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent;
  const read = Object.entries(sent).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value !== 'string' || field === undefined) return [[name, value]];
    // An empty box of a field that cannot be cleared was not filled in.
    if (value === '' && !field.required && !field.clearable) return [];
    return [[name, field.fromText(value)]];
  });
  return Object.fromEntries(read);
}
