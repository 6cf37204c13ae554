/** The address of a view's page inside the workspace, with another range of time: "logs?status=5xx&last=1h". */
export function viewAddress(
  { page, query }: { readonly page: string; readonly query: string },
  range: Readonly<Record<string, string>>,
): string {
  const kept = new URLSearchParams(query);
  for (const name of ['from', 'to', 'last', 'range', 'step']) kept.delete(name);
  for (const [name, value] of Object.entries(range)) kept.set(name, value);
  return `${page}?${kept}`;
}
