/** The URL of the log with these filters: `logHref('/acme/logs', { key }, { from, to })`. */
export function logHref(
  path: string,
  filters: Readonly<Record<string, string>>,
  { from, to }: { readonly from: string; readonly to: string },
): string {
  // Whatever else the span carries has no place in an address.
  return `${path}?${new URLSearchParams({ ...filters, from, to })}`;
}
