/** "name  value" lines with aligned values; null is shown as "none". */
export function fieldLines(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${valueText(fields[name])}`).join('\n');
}

/** Rows in columns under their titles; `none` if there are no rows. */
export function tableLines(
  titles: readonly string[],
  rows: readonly (readonly unknown[])[],
  none: string,
): string {
  if (rows.length === 0) return none;
  const cells = [titles, ...rows.map((row) => row.map(valueText))];
  const widths = titles.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value)) return value.map(valueText).join(', ') || 'none';
  if (typeof value === 'object') {
    return Object.entries(value)
      .map(([name, one]) => `${name} ${valueText(one)}`)
      .join(', ');
  }
  return printable(String(value));
}

/** Names and models are untrusted: control characters, which could control the terminal, are escaped. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
