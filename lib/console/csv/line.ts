/** The value of a cell. */
export type CsvCell = string | number | boolean | null;

/** Cells that a spreadsheet would run as a formula, even after spaces. */
const formula = /^[\s]*[=+\-@\t\r]/;
const aNumber = /^-?\d+(\.\d+)?$/;

/**
 * A line of CSV (RFC 4180). Text that begins like a formula gets an apostrophe in front, which spreadsheets
 * do not show, because names of models and keys are untrusted.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = formula.test(text) && !aNumber.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
