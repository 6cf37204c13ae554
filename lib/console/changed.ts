type Values = Readonly<Record<string, unknown>>;

/**
 * What a form sends of its values: those that differ from what it showed at the beginning, where an empty box is the
 * same as none. A form that was opened before another change then does not undo it. Pure.
 */
export function changedOf<Value>(
  values: Readonly<Record<string, Value>>,
  initial: Values,
): Readonly<Record<string, Value>> {
  const asText = (value: unknown) => JSON.stringify(value === '' ? null : (value ?? null));
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => asText(value) !== asText(initial[name])),
  );
}
