import type {
  LanguageModelV4FilePart,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { carryMark } from '#lib/core/translation/bind-thinking';
import { defined, type Field } from '#lib/core/translation/field';
import { at } from '#lib/core/translation/generate-content/spellings';
import { readMark } from '#lib/core/translation/thinking-mark';
import type { ToolCalls } from '#lib/core/translation/tool-calls';
import type { UniqueIds } from '#lib/core/translation/unique-ids';

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;
type AssistantPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart;

/** Files that Google keeps; also recognized by the table of fields. */
export const storedFile = /^(gs:|https:\/\/generativelanguage\.googleapis\.com\/)/;

/** A part of a user's content that is no result of a function. */
export function readUserPart(part: Field): UserPart[] {
  if (!part.get('text').isAbsent) {
    const text = part.get('text').text();
    return text === '' ? [] : [{ type: 'text', text }];
  }
  const file = readFile(part);
  return file ? [file] : part.refuse('must have text, inlineData, fileData or functionResponse.');
}

function readFile(part: Field): UserPart | null {
  const inline = at(part, 'inlineData');
  if (!inline.isAbsent) {
    const mediaType = at(inline, 'mimeType').name();
    const data = inline.get('data').name();
    const name = at(inline, 'displayName').maybe((field) => field.text());
    if (mediaType.startsWith('text/')) return { type: 'text', text: Buffer.from(data, 'base64').toString() };
    return {
      type: 'file',
      mediaType,
      data: { type: 'data', data: standard(data) },
      ...defined({ filename: name }),
    };
  }
  const linked = at(part, 'fileData');
  if (linked.isAbsent) return null;
  const uri = at(linked, 'fileUri');
  if (storedFile.test(uri.text())) {
    uri.refuse('names a file that only Google can read; send inlineData, or a URL that everyone can read.');
  }
  const url = uri.url();
  if (!/^https?:$/.test(url.protocol)) uri.wrong('a URL that begins with "https:"');
  const mediaType = at(linked, 'mimeType').maybe((field) => field.name()) ?? 'image';
  return { type: 'file', mediaType, data: { type: 'url', url } };
}

/** Google also takes the alphabet of base64url. */
function standard(data: string): string {
  return data.includes('-') || data.includes('_') ? Buffer.from(data, 'base64url').toString('base64') : data;
}

/** The result of a function: of the call with its id, or of the first one of its name that still waits. */
export function readResult(part: Field, calls: ToolCalls): LanguageModelV4ToolResultPart {
  const result = at(part, 'functionResponse');
  const id = result.get('id').maybe((field) => field.text()) || undefined;
  const name = result.get('name').maybe((field) => field.text());
  const call =
    (id !== undefined ? calls.takeResult((open) => open.givenId === id) : null) ??
    calls.takeResult((open) => open.name === name && (id === undefined || open.givenId === undefined)) ??
    result.refuse('answers no functionCall of the turn before that still waits for its response.');
  return { type: 'tool-result', toolCallId: call.id, toolName: call.name, output: readOutput(result) };
}

/** Keys under which Google's SDKs and the AI SDK send what a function returns; without one, all of it is the result. */
const resultKeys: readonly string[] = ['output', 'result', 'content'];

function readOutput(result: Field): LanguageModelV4ToolResultPart['output'] {
  const response = result.get('response').maybe((field) => field.jsonObject()) ?? {};
  const keys = Object.keys(response).filter(
    (key) => key !== 'name' || response.name !== result.get('name').value,
  );
  const key = keys.length === 1 ? keys[0] : undefined;
  const isError = key === 'error';
  const value =
    (key !== undefined && (isError || resultKeys.includes(key)) ? response[key] : undefined) ?? response;
  const files = result.get('parts').items().flatMap(readUserPart);
  if (files.length > 0) {
    const text = typeof value === 'string' ? value : keys.length === 0 ? '' : JSON.stringify(value);
    return { type: 'content', value: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...files] };
  }
  if (typeof value === 'string') return { type: isError ? 'error-text' : 'text', value };
  return { type: isError ? 'error-json' : 'json', value };
}

/**
 * What the model said in one turn. Clients keep the parts of a stream as they came, so adjoining text belongs together.
 * Pictures, and what tools of the provider left behind, are left out.
 */
export class ModelTurn {
  readonly parts: AssistantPart[] = [];
  readonly #calls: ToolCalls;
  readonly #ids: UniqueIds;
  readonly #marks = new Set<string>();

  constructor(calls: ToolCalls, ids: UniqueIds) {
    this.#calls = calls;
    this.#ids = ids;
  }

  read(part: Field): void {
    const signature = at(part, 'thoughtSignature').maybe((field) => field.text());
    const call = at(part, 'functionCall');
    const text = part.get('text').maybe((field) => field.text()) ?? '';
    if (!call.isAbsent) this.#readCall(call, signature);
    else if (part.get('thought').maybe((field) => field.flag()) === true) this.#think(text, signature);
    else if (text !== '') this.#say(text);
  }

  #say(text: string): void {
    const last = this.parts.at(-1);
    if (last?.type === 'text') last.text += text;
    else this.parts.push({ type: 'text', text });
  }

  #think(text: string, signature: string | undefined): void {
    let last = this.parts.at(-1);
    if (last?.type !== 'reasoning' || last.providerOptions) {
      if (text === '' && signature === undefined) return;
      last = { type: 'reasoning', text: '' };
      this.parts.push(last);
    }
    last.text += text;
    const carried = signature === undefined ? undefined : this.#carry(signature);
    if (carried) last.providerOptions = carried;
  }

  #readCall(call: Field, signature: string | undefined): void {
    const given = call.get('id').maybe((field) => field.text()) || undefined;
    const name = call.get('name').name();
    const id = this.#ids.take(given ?? '');
    if (given !== undefined && this.#calls.waits((open) => open.givenId === given)) {
      call.get('id').refuse('is the id of another functionCall of this turn; give each call its own.');
    }
    this.#calls.call({ id, name, at: call, givenId: given });
    const input = call.get('args').maybe((field) => field.jsonObject()) ?? {};
    const mark = readMark(signature);
    const carried = signature !== undefined && mark ? this.#carry(signature) : undefined;
    // A client that does not keep thoughts still has their mark at the call.
    const ofThought = mark?.toolCallId === undefined;
    if (carried && ofThought) this.parts.push({ type: 'reasoning', text: '', providerOptions: carried });
    const options = carried && !ofThought ? { providerOptions: carried } : {};
    this.parts.push({ type: 'tool-call', toolCallId: id, toolName: name, input, ...options });
  }

  /** A mark as options of a part; undefined: another part of the turn has it. */
  #carry(signature: string): ReturnType<typeof carryMark> | undefined {
    if (this.#marks.has(signature)) return undefined;
    this.#marks.add(signature);
    return carryMark(signature);
  }
}
