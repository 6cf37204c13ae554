/**
 * What a saved view keeps of a page's URL, as a query: the page's parameters, in their order, without its place in the
 * list. @param columns as the URL has them; null: the default ones.
 */
export function viewQuery(
  parameters: readonly string[],
  query: URLSearchParams,
  columns: string | null,
): string {
  const kept = new URLSearchParams();
  for (const name of parameters) {
    const value = name === 'columns' ? columns : query.get(name);
    if (value) kept.set(name, value);
  }
  return kept.toString();
}

/** Whether two queries ask for the same. */
export function sameQuery(one: string, other: string): boolean {
  const sorted = (text: string) => {
    const query = new URLSearchParams(text);
    query.sort();
    return query.toString();
  };
  return sorted(one) === sorted(other);
}
