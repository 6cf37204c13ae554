import type { Edit } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import type { Scan } from '#lib/core/families/scan';
import { Located, removeEntries } from '#lib/core/families/scan/located';
import type { TextProtocol } from '#lib/core/translation/conversation';
import { isMark, markPrefix, readMark } from '#lib/core/translation/thinking-mark';

/** What becomes of a value: it is removed, or it stays with these edits. */
type Fate = 'removed' | readonly Edit[];

const kept: Fate = [];

interface Turns {
  /** The field of the body in which earlier turns come back. */
  readonly list: string;
  /** Of an element of the list that has a mark somewhere. */
  readonly fateOf: (element: Located, maker: string) => Fate;
}

const turns: Readonly<Record<TextProtocol, Turns>> = {
  chat: { list: 'messages', fateOf: (message) => removeIn(message, 'reasoning_details', isMarkedDetail) },
  responses: { list: 'input', fateOf: fateOfItem },
  messages: { list: 'messages', fateOf: fateOfMessage },
  'generate-content': {
    list: 'contents',
    fateOf: (content, maker) => within(content.get('parts'), (part) => fateOfPart(part, maker)),
  },
};

/**
 * Edits that take the marks of translated turns out of a body, for a provider that is called in the client's own
 * protocol (contract: translation/thinking). If the model's maker signed the thinking in this protocol, the provider's
 * own signature is put back; otherwise the thinking is removed, and a message that consists of nothing else too.
 * @param maker of the model that is called.
 */
export function nativeThinking(
  { body, root }: Pick<Scan, 'body' | 'root'>,
  family: FamilyId,
  maker: string,
): readonly Edit[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!bytes.includes(markPrefix) || !Object.hasOwn(turns, family)) return [];
  const { list, fateOf } = turns[family as TextProtocol];
  const earlier = new Located(bytes, root.start, root.end).get(list);
  return fatesIn(earlier, (element) => (element.has(markPrefix) ? fateOf(element, maker) : kept)).edits;
}

/** What becomes of the elements of a list. */
function fatesIn(list: Located | undefined, fateOf: (element: Located) => Fate) {
  const elements = list?.elements() ?? [];
  const removed = new Set<Located>();
  const edits: Edit[] = [];
  for (const element of elements) {
    const fate = fateOf(element);
    if (fate === 'removed') removed.add(element);
    else edits.push(...fate);
  }
  edits.push(...removeEntries(elements, (element) => removed.has(element)));
  return { edits, isEmptied: elements.length > 0 && removed.size === elements.length };
}

/** What becomes of a value by the elements of its list: no provider accepts an empty one. */
function within(list: Located | undefined, fateOf: (element: Located) => Fate): Fate {
  const { edits, isEmptied } = fatesIn(list, fateOf);
  return isEmptied ? 'removed' : edits;
}

/** Removes elements from a list in an object; the member itself if none is left. */
function removeIn(
  object: Located,
  name: string,
  isRemoved: (element: JsonObject) => boolean,
): readonly Edit[] {
  const fate = within(object.get(name), (element) => {
    const value = element.has(markPrefix) ? objectIn(element.parse()) : null;
    return value && isRemoved(value) ? 'removed' : kept;
  });
  return fate === 'removed' ? removeMembers(object, [name]) : fate;
}

function removeMembers(object: Located, names: readonly string[]): readonly Edit[] {
  return removeEntries(object.members(), ({ name }) => names.includes(name));
}

/** No server that speaks chat has a field for signatures of its own that a mark could become. */
function isMarkedDetail({ signature, data }: JsonObject): boolean {
  return isMark(signature ?? data);
}

function fateOfItem(item: Located, maker: string): Fate {
  const { type, encrypted_content: field } = objectIn(item.parse()) ?? {};
  if (type !== 'reasoning' || !isMark(field)) return kept;
  const own = signedBy(maker, field, 'openai');
  return replaceMembers(item, { id: own?.itemId, encrypted_content: own?.reasoningEncryptedContent });
}

function fateOfMessage(message: Located, maker: string): Fate {
  const content = message.get('content');
  const searches = new Set<unknown>();
  for (const block of content?.elements() ?? []) {
    const read = block.has(markPrefix) ? objectIn(block.parse()) : null;
    if (read && isMarkedSearch(read)) searches.add(read.tool_use_id);
  }
  return within(content, (block) => {
    if (!block.has(markPrefix) && searches.size === 0) return kept;
    return fateOfBlock(block, searches, maker);
  });
}

/** @param searches ids of searches by another maker's provider: Anthropic's own have what only it can encrypt. */
function fateOfBlock(block: Located, searches: ReadonlySet<unknown>, maker: string): Fate {
  const read = objectIn(block.parse()) ?? {};
  switch (read.type) {
    case 'thinking':
      if (!isMark(read.signature)) return kept;
      return replaceMembers(block, { signature: signedBy(maker, read.signature, 'anthropic')?.signature });
    case 'redacted_thinking':
      if (!isMark(read.data)) return kept;
      return replaceMembers(block, { data: signedBy(maker, read.data, 'anthropic')?.redactedData });
    case 'server_tool_use':
      return searches.has(read.id) ? 'removed' : kept;
    case 'web_search_tool_result':
      return searches.has(read.tool_use_id) ? 'removed' : kept;
    case 'text':
      return removeIn(block, 'citations', (citation) => isMark(citation.encrypted_index));
    default:
      return kept;
  }
}

function isMarkedSearch({ type, content }: JsonObject): boolean {
  const isMarked = (result: unknown) => isMark(objectIn(result)?.encrypted_content);
  return type === 'web_search_tool_result' && listIn(content).some(isMarked);
}

/** Both spellings of the protobuf JSON mapping. */
const signatureNames = ['thoughtSignature', 'thought_signature'];

function fateOfPart(part: Located, maker: string): Fate {
  const read = objectIn(part.parse()) ?? {};
  const marked = signatureNames.filter((name) => isMark(read[name]));
  if (marked.length === 0) return kept;
  const own = marked.map((name) => [name, signedBy(maker, read[name], 'google')?.thoughtSignature]);
  const replaced = replaceMembers(part, Object.fromEntries(own));
  const saysNothing = Object.keys(read).every((name) => marked.includes(name));
  if (replaced !== 'removed' || read.thought === true || saysNothing) return replaced;
  return removeMembers(part, marked);
}

/** What a provider of this maker signed, as the package of its protocol names it; undefined: another one signed it. */
function signedBy(maker: string, field: unknown, protocol: string): JsonObject | undefined {
  const mark = readMark(field);
  return mark?.maker === maker ? mark.metadata[protocol] : undefined;
}

/** Writes strings in the place of values; the object is removed if one of them is missing. */
function replaceMembers(object: Located, strings: JsonObject): Fate {
  if (Object.values(strings).some((one) => textIn(one) === null)) return 'removed';
  return object.members().flatMap(({ name, value: { start, end } }) => {
    return Object.hasOwn(strings, name) ? [{ start, end, text: JSON.stringify(strings[name]) }] : [];
  });
}
