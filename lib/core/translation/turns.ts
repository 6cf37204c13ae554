import type {
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { carryMark } from '#lib/core/translation/bind-thinking';
import type { Field } from '#lib/core/translation/field';
import { readMark } from '#lib/core/translation/thinking-mark';

interface Call {
  readonly at: Field;
  readonly part: LanguageModelV4ToolCallPart;
  /** The message behind the answer that made the call. */
  readonly results: LanguageModelV4ToolResultPart[];
  answered: boolean;
}

/**
 * Puts a prompt together from messages or items in the order of the client. The results of an answer's calls are
 * collected in one message behind it, wherever the client has them, because most protocols accept them only there.
 */
export class Turns {
  readonly #prompt: LanguageModelV4Prompt = [];
  #answer: (LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart)[] = [];
  #results: LanguageModelV4ToolResultPart[] = [];
  /** The newest call of each id that the client uses. */
  readonly #calls = new Map<string, Call>();
  readonly #all: Call[] = [];
  readonly #ids = new Set<string>();
  /** Marks of calls that are still to come, by the id of the call. */
  readonly #marks = new Map<string, string>();

  system({ text, providerOptions }: LanguageModelV4TextPart): void {
    this.endAnswer();
    if (text !== '')
      this.#prompt.push({ role: 'system', content: text, ...(providerOptions && { providerOptions }) });
  }

  user(content: (LanguageModelV4TextPart | LanguageModelV4FilePart)[]): void {
    this.endAnswer();
    if (content.length > 0) this.#prompt.push({ role: 'user', content });
  }

  text(part: LanguageModelV4TextPart): void {
    if (part.text !== '') this.#answer.push(part);
  }

  /** @param field what the client has in its field for signed thinking. */
  thinking(text: string, field: string | undefined): void {
    const id = readMark(field)?.toolCallId;
    if (id !== undefined && field !== undefined) this.#markCall(id, field);
    else if (text !== '' || field !== undefined) {
      this.#answer.push({ type: 'reasoning', text, ...(field && { providerOptions: carryMark(field) }) });
    }
  }

  /** An id that was used before gets another, since some models count their calls from 0 in every turn. */
  call(id: Field, toolName: string, input: unknown): void {
    const clientId = id.name();
    if (this.#calls.get(clientId)?.answered === false) {
      id.refuse(`is "${clientId}", the id of another call without a result; give each call its own.`);
    }
    const mark = this.#marks.get(clientId);
    this.#marks.delete(clientId);
    const part: LanguageModelV4ToolCallPart = {
      type: 'tool-call',
      toolCallId: this.#unused(clientId),
      toolName,
      input,
      ...(mark !== undefined && { providerOptions: carryMark(mark) }),
    };
    const call = { at: id, part, results: this.#results, answered: false };
    this.#answer.push(part);
    this.#calls.set(clientId, call);
    this.#all.push(call);
  }

  result(id: Field, output: LanguageModelV4ToolResultOutput): void {
    const call = this.#calls.get(id.name());
    if (!call) id.refuse(`is "${id.name()}", which is the id of no call before it; send the call too.`);
    if (call.answered) id.refuse(`is "${id.name()}", a call that already has a result; send one result.`);
    if (call.results === this.#results) this.endAnswer();
    call.answered = true;
    const { toolCallId, toolName } = call.part;
    call.results.push({ type: 'tool-result', toolCallId, toolName, output });
  }

  /** What comes next is another answer, or none. */
  endAnswer(): void {
    const calls = this.#answer.some(({ type }) => type === 'tool-call');
    if (this.#answer.length > 0) this.#prompt.push({ role: 'assistant', content: this.#answer });
    if (calls) {
      this.#prompt.push({ role: 'tool', content: this.#results });
      this.#results = [];
    }
    this.#answer = [];
  }

  /** @param field the messages or items, for the error if they say nothing. */
  end(field: Field): LanguageModelV4Prompt {
    this.endAnswer();
    const open = this.#all.find(({ answered }) => !answered);
    open?.at.refuse(`is a call of "${open.part.toolName}" without a result; send its result too.`);
    if (this.#prompt.every(({ role }) => role === 'system'))
      field.wrong('a list with a message of the user that is not empty');
    return this.#prompt;
  }

  #markCall(id: string, field: string): void {
    const call = this.#calls.get(id);
    if (call) call.part.providerOptions = carryMark(field);
    else this.#marks.set(id, field);
  }

  #unused(id: string): string {
    let unused = id;
    for (let number = 2; this.#ids.has(unused); number += 1) unused = `${id}_${number}`;
    this.#ids.add(unused);
    return unused;
  }
}
