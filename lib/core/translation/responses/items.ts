import type { JsonObject } from '#lib/core/families/reading/json';
import type { UrlCitation } from '#lib/core/translation/openai/answer';
import { customInput } from '#lib/core/translation/openai/tools';
import type { ClientTool } from '#lib/core/translation/responses/tools';

type Status = 'completed' | 'incomplete';

/** Sends one event of an item: its id and place are added. */
export type Send = (type: string, fields: JsonObject) => string;

/** An item of the output while it is written. Each method returns its events. */
export interface OpenItem {
  readonly object: JsonObject;
  open(send: Send): string;
  /** More of its text, arguments or input. */
  add(delta: string, send: Send): string;
  close(status: Status, send: Send): string;
}

export class MessageItem implements OpenItem {
  readonly #id: string;
  #text = '';
  #status: Status | 'in_progress' = 'in_progress';
  readonly #annotations: JsonObject[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  get object(): JsonObject {
    const content = this.#status === 'in_progress' ? [] : [this.#part()];
    return { id: this.#id, type: 'message', status: this.#status, role: 'assistant', content };
  }

  open(send: Send): string {
    return send('response.content_part.added', { content_index: 0, part: this.#part() });
  }

  add(delta: string, send: Send): string {
    this.#text += delta;
    return send('response.output_text.delta', { content_index: 0, delta, logprobs: [] });
  }

  cite(citation: UrlCitation, send: Send): string {
    const annotation = { type: 'url_citation', ...citation };
    this.#annotations.push(annotation);
    return send('response.output_text.annotation.added', {
      content_index: 0,
      annotation_index: this.#annotations.length - 1,
      annotation,
    });
  }

  close(status: Status, send: Send): string {
    this.#status = status;
    return (
      send('response.output_text.done', { content_index: 0, text: this.#text, logprobs: [] }) +
      send('response.content_part.done', { content_index: 0, part: this.#part() })
    );
  }

  #part(): JsonObject {
    return { type: 'output_text', text: this.#text, annotations: [...this.#annotations], logprobs: [] };
  }
}

export class ReasoningItem implements OpenItem {
  readonly #id: string;
  #text = '';
  #mark: string | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  get object(): JsonObject {
    const summary = this.#text === '' ? [] : [this.#part()];
    return {
      id: this.#id,
      type: 'reasoning',
      summary,
      ...(this.#mark !== null && { encrypted_content: this.#mark }),
    };
  }

  sign(mark: string): void {
    this.#mark = mark;
  }

  open(): string {
    return '';
  }

  add(delta: string, send: Send): string {
    const added =
      this.#text === ''
        ? send('response.reasoning_summary_part.added', { summary_index: 0, part: this.#part() })
        : '';
    this.#text += delta;
    return added + send('response.reasoning_summary_text.delta', { summary_index: 0, delta });
  }

  close(_status: Status, send: Send): string {
    if (this.#text === '') return '';
    return (
      send('response.reasoning_summary_text.done', { summary_index: 0, text: this.#text }) +
      send('response.reasoning_summary_part.done', { summary_index: 0, part: this.#part() })
    );
  }

  #part(): JsonObject {
    return { type: 'summary_text', text: this.#text };
  }
}

/** A call of a function, or of a tool of plain text, which is sent once all of its text is known. */
export class CallItem implements OpenItem {
  readonly #id: string;
  readonly #callId: string;
  readonly #tool: ClientTool;
  /** Arguments as the model wrote them. */
  #streamed = '';
  #status: Status | 'in_progress' = 'in_progress';

  constructor(id: string, callId: string, tool: ClientTool) {
    this.#id = id;
    this.#callId = callId;
    this.#tool = tool;
  }

  get streamed(): string {
    return this.#streamed;
  }

  get object(): JsonObject {
    const { custom, name, namespace } = this.#tool;
    const said = this.#status === 'in_progress' ? '' : this.#said();
    return {
      id: this.#id,
      type: custom ? 'custom_tool_call' : 'function_call',
      status: this.#status,
      call_id: this.#callId,
      name,
      ...(namespace !== null && { namespace }),
      ...(custom ? { input: said } : { arguments: said }),
    };
  }

  open(): string {
    return '';
  }

  add(delta: string, send: Send): string {
    this.#streamed += delta;
    return this.#tool.custom ? '' : send('response.function_call_arguments.delta', { delta });
  }

  close(status: Status, send: Send): string {
    this.#status = status;
    const said = this.#said();
    const { custom, name } = this.#tool;
    if (!custom) return send('response.function_call_arguments.done', { name, arguments: said });
    return (
      send('response.custom_tool_call_input.delta', { delta: said }) +
      send('response.custom_tool_call_input.done', { input: said })
    );
  }

  #said(): string {
    return this.#tool.custom ? customInput(this.#streamed) : this.#streamed;
  }
}

/** A search that the provider made by itself. */
export class SearchItem implements OpenItem {
  readonly #id: string;
  readonly #query: string;
  #status: Status | 'in_progress' = 'in_progress';

  constructor(id: string, query: string) {
    this.#id = id;
    this.#query = query;
  }

  get object(): JsonObject {
    const action = { type: 'search', query: this.#query, queries: [this.#query] };
    return { id: this.#id, type: 'web_search_call', status: this.#status, action };
  }

  open(send: Send): string {
    return send('response.web_search_call.in_progress', {}) + send('response.web_search_call.searching', {});
  }

  add(): string {
    return '';
  }

  close(status: Status, send: Send): string {
    this.#status = status;
    return send('response.web_search_call.completed', {});
  }
}
