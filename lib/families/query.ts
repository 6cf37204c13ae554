/**
 * The query names of an operation that may travel upstream, from the provider's own documents (decisions §4): with any
 * value, or with those that the expression matches.
 */
export type QueryNames = Readonly<Record<string, true | RegExp>>;

/**
 * What of a client's query travels upstream: the pairs whose names the operation lists, byte for byte. Providers read
 * others that would take the usage out of an answer, change its framing, or carry a credential.
 * @param names absent: none passes.
 */
export function queryToProvider(query: string, names: QueryNames | undefined): string {
  if (query === '' || names === undefined) return '';
  return query
    .split('&')
    .filter((pair) => mayPass(pair, names))
    .join('&');
}

function mayPass(pair: string, names: QueryNames): boolean {
  const [[name, value] = ['', '']] = new URLSearchParams(pair);
  const rule = Object.hasOwn(names, name) ? names[name] : undefined;
  return rule instanceof RegExp ? rule.test(value) : rule === true;
}
