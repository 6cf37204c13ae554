import { audioTokens, imageTokens, textTokens } from '#tools/sandbox/content/tokens';
import { record } from '#tools/sandbox/content/tool-call';
import { missingParameter, ProviderFault } from '#tools/sandbox/scenario/provider-fault';

type Fields = Record<string, unknown>;

/** An item of an input or output, by its id. */
export interface KeptItem {
  readonly item: Record<string, unknown>;
  readonly tokens: number;
}

/** What the provider looks up for an input: items by their id, and reasoning that only it can decrypt. */
export interface Lookup {
  item(id: string): KeptItem | null;
  opens(sealed: string): boolean;
}

/** An input, read item by item. */
export interface Input {
  /** As `input_items` lists them, except for new ids: messages in their long form, the rest as sent. */
  readonly items: readonly KeptItem[];
  /** The last user message's text. */
  readonly prompt: string;
  /** Whether it ends with the result of a tool: the answer is then text. */
  readonly answersTool: boolean;
  readonly transcript: string;
  readonly inputTokens: number;
}

/**
 * 4 tokens around each item, plus the tokens of its parts.
 * @throws ProviderFault 404 for an unknown item, 400 for reasoning that another account encrypted.
 */
export function readInput(input: unknown, lookup: Lookup): Input {
  const given = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
  const items: KeptItem[] = [];
  const lines: string[] = [];
  let prompt = '';
  let inputTokens = 0;
  for (const entry of given) {
    const item = longForm(record(entry), lookup);
    const text = textOf(item);
    const tokens = weightOf(item, text, lookup);
    items.push({ item, tokens });
    if (item.type === 'message' && item.role === 'user') prompt = text;
    lines.push(`${String(item.role ?? item.type)}\n${text}`);
    inputTokens += 4 + tokens;
  }
  const answersTool = /_output$/.test(String(items.at(-1)?.item.type ?? ''));
  return { items, prompt, answersTool, transcript: lines.join('\n'), inputTokens };
}

function listOf(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input;
  throw missingParameter('input');
}

/** A message with its parts written out; a reference as the item that it refers to. */
function longForm(item: Fields, lookup: Lookup): Fields {
  const type = item.type ?? ('role' in item ? 'message' : 'item_reference');
  if (type === 'item_reference') return keptItem(item, lookup).item;
  if (type === 'reasoning' || type === 'compaction') return reasoning(item, lookup);
  if (type !== 'message') return { ...item, type };
  const part = item.role === 'assistant' ? 'output_text' : 'input_text';
  const content = typeof item.content === 'string' ? [{ type: part, text: item.content }] : item.content;
  const id = item.id === undefined ? {} : { id: item.id };
  const parts = Array.isArray(content) ? content : [];
  return { ...id, type, status: 'completed', role: item.role, content: parts };
}

function keptItem({ id }: Fields, lookup: Lookup): KeptItem {
  const kept = lookup.item(String(id));
  if (kept) return kept;
  throw new ProviderFault(404, `Item with id '${String(id)}' not found.`, null, 'input');
}

function reasoning(item: Fields, lookup: Lookup): Fields {
  const sealed = item.encrypted_content ?? null;
  if (sealed === null) return item.id === undefined ? item : keptItem(item, lookup).item;
  if (lookup.opens(String(sealed))) return item;
  const message = `The encrypted content for item ${String(item.id)} could not be verified.`;
  throw new ProviderFault(400, message, 'invalid_encrypted_content', 'input');
}

/** The text of an item: a tool call's arguments, a tool result's output. */
function textOf(item: Fields): string {
  if (typeof item.output === 'string') return item.output;
  if (typeof item.arguments === 'string') return item.arguments;
  const parts = [item.content, item.output].flatMap((list) => (Array.isArray(list) ? list.map(record) : []));
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

function weightOf(item: Fields, text: string, lookup: Lookup): number {
  const kept = typeof item.id === 'string' ? lookup.item(item.id) : null;
  if (kept) return kept.tokens;
  let tokens = textTokens(text);
  const parts = [item.content, item.output].flatMap((list) => (Array.isArray(list) ? list.map(record) : []));
  for (const part of parts) {
    if (part.type === 'input_image') tokens += imageTokens(part.detail);
    if (part.type === 'input_audio') tokens += audioTokens(String(record(part.input_audio).data ?? ''));
    if (part.type === 'input_file') tokens += textTokens(String(part.file_data ?? ''));
  }
  return tokens;
}
