/** The URL of the log with these filters: `logHref('/acme/logs', { key }, { from, to })`. */
export function logHref(
  path: string,
  filters: Readonly<Record<string, string>>,
  span: { readonly from: string; readonly to: string },
): string {
  return `${path}?${new URLSearchParams({ ...filters, ...span })}`;
}
