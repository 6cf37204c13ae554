export type Form = { [name: string]: Form | string };

/** Reads a body in the format of Stripe's clients: "line_items[0][price_data][currency]=usd". */
export function readForm(body: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.replaceAll(']', '').split('[');
    let at: Form = form;
    for (const part of path.slice(0, -1)) {
      const inner = at[part];
      const next: Form = typeof inner === 'object' ? inner : {};
      at[part] = next;
      at = next;
    }
    at[path.at(-1) ?? ''] = value;
  }
  return form;
}

/** A value in a form by its names; "" if it is not there. */
export function textIn(form: Form, ...path: readonly string[]): string {
  let at: Form | string | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  return typeof at === 'string' ? at : '';
}

/** The inner forms of a list: "items[0][x]=1&items[1][x]=2". */
export function listIn(form: Form, name: string): Form[] {
  const inner = form[name];
  return typeof inner === 'object' ? Object.values(inner).filter((one) => typeof one === 'object') : [];
}

/** The strings in an inner form: "metadata[order]=1". */
export function textsIn(form: Form, ...path: readonly string[]): Record<string, string> {
  let at: Form | string | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  if (typeof at !== 'object') return {};
  const texts = Object.entries(at).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return Object.fromEntries(texts);
}
