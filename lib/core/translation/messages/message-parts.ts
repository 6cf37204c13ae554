import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { JsonObject } from '#lib/core/families/reading/json';
import type { AnswerFacts, AnswerPart } from '#lib/core/translation/conversation';
import {
  callMark,
  citation,
  markOfThinking,
  redactedThinking,
  type Search,
  searchIn,
  toolUse,
} from '#lib/core/translation/messages/answer';
import { isSigned, mergeMetadata } from '#lib/core/translation/signed';
import { UniqueIds } from '#lib/core/translation/unique-ids';

/** Where the blocks of a message go: into a stream, or into a list. */
export interface Blocks<Block> {
  /** @param splits whether it may be closed before its end, because what comes later can begin another block. */
  add(start: JsonObject, splits?: boolean): Block;
  /** @returns false: the block is closed. */
  append(block: Block, delta: JsonObject): boolean;
  /** Nothing more will come for it. */
  end(block: Block): void;
}

interface Thinking<Block> {
  readonly metadata: SharedV4ProviderMetadata;
  readonly block: Block | null;
}

interface Tool<Block> {
  readonly block: Block;
  said: boolean;
}

/** Reads the parts of an answer into the blocks of a message. */
export class MessageParts<Block extends object> {
  /** The answer calls a tool of the client. */
  called = false;
  /** Searches of the web by the provider. */
  searches = 0;
  readonly #facts: AnswerFacts;
  readonly #blocks: Blocks<Block>;
  readonly #texts = new Map<string, Block>();
  #lastText: Block | null = null;
  /** Thinking that is being written, by the id of its part. */
  readonly #thinking = new Map<string, Thinking<Block>>();
  readonly #callIds = new UniqueIds();
  /** Calls that are being written, by the provider's id. */
  readonly #tools = new Map<string, Tool<Block>>();
  /** Marks for a client that does not want to see thinking: it gets them only if it has to send a tool's result. */
  #hiddenMarks: string[] = [];
  /** Sources that came while no text was open. */
  #citations: JsonObject[] = [];

  constructor(facts: AnswerFacts, blocks: Blocks<Block>) {
    this.#facts = facts;
    this.#blocks = blocks;
  }

  read(part: AnswerPart): void {
    switch (part.type) {
      case 'text-delta':
        if (part.delta !== '') this.#text(part.id, part.delta);
        return;
      case 'reasoning-start':
        this.#think(part.id, '', part.providerMetadata);
        return;
      case 'reasoning-delta':
        this.#think(part.id, part.delta, part.providerMetadata);
        return;
      case 'reasoning-end':
        this.#endThinking(part.id, part.providerMetadata);
        return;
      case 'tool-input-start':
        // Text that is not JSON becomes JSON in the call itself.
        if (part.providerExecuted || part.inputEncoding === 'text') return;
        this.#startTool(part.id, part.toolName, part.providerMetadata);
        return;
      case 'tool-input-delta':
        this.#input(part.id, part.delta);
        return;
      case 'tool-call': {
        if (part.providerExecuted) return;
        const { block, said } = this.#startTool(part.toolCallId, part.toolName, part.providerMetadata);
        if (!said) this.#input(part.toolCallId, part.input);
        this.#blocks.end(block);
        this.#tools.delete(part.toolCallId);
        return;
      }
      case 'source':
        this.#cite(citation(part, this.#facts));
        return;
      case 'tool-result':
        this.#search(searchIn(part, this.#facts));
        return;
    }
  }

  /** Thinking without its end, and sources without a text. */
  finish(): void {
    for (const id of [...this.#thinking.keys()]) this.#endThinking(id);
    if (this.#citations.length > 0) this.#openText();
  }

  #text(id: string, text: string): void {
    const delta = { type: 'text_delta', text };
    const known = this.#texts.get(id);
    if (known && this.#blocks.append(known, delta)) return;
    const block = this.#openText();
    this.#texts.set(id, block);
    this.#blocks.append(block, delta);
  }

  #openText(): Block {
    const block = this.#blocks.add({ type: 'text', text: '', citations: null }, true);
    this.#lastText = block;
    for (const one of this.#citations.splice(0)) this.#cite(one);
    return block;
  }

  #cite(one: JsonObject | null): void {
    if (one === null) return;
    const delta = { type: 'citations_delta', citation: one };
    if (!this.#lastText || !this.#blocks.append(this.#lastText, delta)) this.#citations.push(one);
  }

  #search(search: Search | null): void {
    if (search === null) return;
    this.searches++;
    const use = this.#blocks.add(search.use);
    this.#blocks.append(use, { type: 'input_json_delta', partial_json: JSON.stringify(search.input) });
    this.#blocks.end(use);
    this.#addWhole(search.result);
  }

  #think(id: string, text: string, told: SharedV4ProviderMetadata | undefined): void {
    const known = this.#thinking.get(id);
    const metadata = mergeMetadata(known?.metadata ?? {}, told);
    let block = known?.block ?? null;
    if (text !== '' && this.#facts.echo.thinking === true) {
      block ??= this.#blocks.add({ type: 'thinking', thinking: '', signature: '' });
      this.#blocks.append(block, { type: 'thinking_delta', thinking: text });
    }
    this.#thinking.set(id, { metadata, block });
  }

  #endThinking(id: string, told?: SharedV4ProviderMetadata): void {
    const thinking = this.#thinking.get(id);
    if (!thinking) return;
    this.#thinking.delete(id);
    const metadata = mergeMetadata(thinking.metadata, told);
    const mark = markOfThinking(this.#facts, metadata);
    if (thinking.block) {
      this.#blocks.append(thinking.block, { type: 'signature_delta', signature: mark });
      this.#blocks.end(thinking.block);
    } else if (isSigned(metadata)) {
      if (this.#facts.echo.thinking === true) this.#addWhole(redactedThinking(mark));
      else this.#hiddenMarks.push(mark);
    }
  }

  #startTool(providerId: string, name: string, metadata: SharedV4ProviderMetadata | undefined): Tool<Block> {
    const known = this.#tools.get(providerId);
    if (known) return known;
    this.called = true;
    const id = this.#callIds.take(providerId);
    for (const mark of this.#hiddenMarks.splice(0)) this.#addWhole(redactedThinking(mark));
    if (metadata && isSigned(metadata)) this.#addWhole(callMark(this.#facts, id, metadata));
    const tool = { block: this.#blocks.add(toolUse(id, name)), said: false };
    this.#tools.set(providerId, tool);
    return tool;
  }

  #input(id: string, json: string): void {
    const tool = this.#tools.get(id);
    if (!tool || json === '') return;
    tool.said = true;
    this.#blocks.append(tool.block, { type: 'input_json_delta', partial_json: json });
  }

  #addWhole(block: JsonObject): void {
    this.#blocks.end(this.#blocks.add(block));
  }
}
