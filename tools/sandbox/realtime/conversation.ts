import { textTokens } from '#tools/sandbox/content/tokens';
import { record } from '#tools/sandbox/content/tool-call';

/** Bytes of 16-bit PCM at 24 kHz of which a model reads one token: ten a second. */
const HEARD_BYTES = 4_800;

/** Tokens that something takes. */
export interface Heard {
  readonly text: number;
  readonly audio: number;
}

/** Items of a session, as tokens, and the text that was last said. */
export class Conversation {
  readonly #items: Heard[] = [];
  /** Of what the response before has read. */
  #cached: Heard = { text: 0, audio: 0 };
  lastText = '';

  /** An item of a client: its text, and audio in base64. */
  add(item: unknown): void {
    const { content } = record(item);
    let text = '';
    let bytes = 0;
    for (const part of Array.isArray(content) ? content.map(record) : []) {
      if (typeof part.text === 'string') text += part.text;
      if (typeof part.audio === 'string') bytes += Buffer.from(part.audio, 'base64').length;
    }
    if (text !== '') this.lastText = text;
    this.#items.push({ text: textTokens(text), audio: Math.ceil(bytes / HEARD_BYTES) });
  }

  addAudio(bytes: number): number {
    const audio = Math.ceil(bytes / HEARD_BYTES);
    this.#items.push({ text: 0, audio });
    return audio;
  }

  addAnswer(tokens: Heard): void {
    this.#items.push(tokens);
  }

  /** What a response reads now, and how much of it is cached. */
  read(instructions: string): { readonly all: Heard; readonly cached: Heard } {
    const all = {
      text: this.#items.reduce((sum, { text }) => sum + text, textTokens(instructions)),
      audio: this.#items.reduce((sum, { audio }) => sum + audio, 0),
    };
    const cached = this.#cached;
    this.#cached = all;
    return { all, cached };
  }
}
