import type { Token } from 'marked';
import { readGuidePage } from '#lib/console/guide/read';

/** An example of the quickstart that works for any model of its protocol. */
export interface Snippet {
  readonly name: string;
  /** "OpenAI, Python": the SDK, and the language where there are several. */
  readonly label: string;
  /** The protocol of its call. */
  readonly family: string;
  /** The slug in it. */
  readonly model: string;
  readonly code: string;
}

/** The examples of the quickstart, in its order; they are written nowhere else. */
export async function readSnippets(baseUrl: string): Promise<Snippet[]> {
  const { tokens } = await readGuidePage('quickstart', baseUrl);
  return tokens.flatMap((token) => snippetOf(token) ?? []);
}

/** Reads a code block with `snippet=… family=… label="…" model=…` after its language; null: another token. */
function snippetOf(token: Token): Snippet | null {
  if (token.type !== 'code' || typeof token.lang !== 'string') return null;
  const said = new Map<string, string>();
  for (const [, name = '', quoted, bare] of token.lang.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)) {
    said.set(name, quoted ?? bare ?? '');
  }
  const [name, label, family, model] = ['snippet', 'label', 'family', 'model'].map((one) => said.get(one));
  if (!name || !label || !family || !model) return null;
  return { name, label, family, model, code: String(token.text) };
}

/** The example for another model. */
function withModel(snippet: Snippet, model: string): Snippet {
  return { ...snippet, model, code: snippet.code.replaceAll(snippet.model, model) };
}

/**
 * The text of a page with examples that work on this gateway: a model that cannot be called is replaced by
 * one that can, of the same protocol.
 * @param callable slugs of the callable models, by protocol.
 */
export function withCallableModels(
  tokens: readonly Token[],
  callable: ReadonlyMap<string, readonly string[]>,
): Token[] {
  return tokens.map((token) => {
    const snippet = snippetOf(token);
    const models = snippet && callable.get(snippet.family);
    const [first] = models ?? [];
    if (!snippet || first === undefined || models?.includes(snippet.model)) return token;
    return { ...token, text: withModel(snippet, first).code };
  });
}

/**
 * The examples for a model: one for each SDK and language, in the earliest of the protocols.
 * @param families protocols in which the model can be called, best first.
 */
export function snippetsFor(
  snippets: readonly Snippet[],
  model: string,
  families: readonly string[],
): Snippet[] {
  const labels = new Set<string>();
  return families
    .flatMap((family) => snippets.filter((snippet) => snippet.family === family))
    .flatMap((snippet) => {
      if (labels.has(snippet.label)) return [];
      labels.add(snippet.label);
      return [withModel(snippet, model)];
    });
}
