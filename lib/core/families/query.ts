/**
 * The query names of an operation that may travel upstream, from the provider's own documents (contract: body/query):
 * with any value, or with those that the expression matches.
 */
export type QueryNames = Readonly<Record<string, true | RegExp>>;

/**
 * The part of a client's query that is sent upstream: the pairs whose names the operation lists, byte for byte. Other
 * names could remove the usage from an answer, change its framing, or carry a credential.
 * @param names absent: nothing is sent.
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
