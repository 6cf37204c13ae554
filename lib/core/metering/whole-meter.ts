import type { ShownResource } from '#lib/core/facts/resource';
import type { Ask, Family } from '#lib/core/families/family';
import type { AnswerState, Meter } from '#lib/core/metering/meter';
import type { UsageReport } from '#lib/core/metering/usage';
import { isInsideString, KEPT_AS_IT_COMES } from '#lib/core/relay/long-strings';

/** Bytes of a whole answer that are kept to be read at its end. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const decoder = new TextDecoder();

/** Meters an answer that is one JSON body, read once it is over; one that is not `readable` is only counted. */
export class WholeMeter implements Meter {
  readonly events = 0;
  said = 0;
  error: unknown = undefined;
  answer: unknown = undefined;
  readonly #family: Family;
  readonly #ask: Ask;
  readonly #readable: boolean;
  #keeping: boolean;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #keptBytes = 0;
  #tooLong = false;
  #outputBytes: number | null = null;
  #report: UsageReport | null = null;

  constructor(family: Family, ask: Ask, readable: boolean) {
    this.#family = family;
    this.#ask = ask;
    this.#readable = readable;
    this.#keeping = readable;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (chunk.some((byte) => byte > 0x20)) this.said += 1;
    if (!this.#keeping || (this.#keptBytes > KEPT_AS_IT_COMES && isInsideString(chunk))) return;
    this.#keptBytes += chunk.length;
    if (this.#keptBytes > MAX_ANSWER_BYTES) {
      this.#tooLong = true;
      this.#keeping = false;
      this.#chunks = [];
    } else {
      this.#chunks.push(chunk);
    }
  }

  end(): void {
    if (!this.#keeping) return;
    this.#keeping = false;
    const [only] = this.#chunks;
    const text = decoder.decode(this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks));
    this.#chunks = [];
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      return;
    }
    this.answer = answer;
    this.#report = this.#family.readUsage(this.#ask, answer);
    this.#outputBytes = this.#family.outputBytes(answer);
    this.error = (this.#family.errorIn ?? errorMember)(answer);
  }

  report(): UsageReport | null {
    return this.#report;
  }

  state(): AnswerState {
    if (this.#tooLong || !this.#readable) return 'unread';
    if (this.answer === undefined) return 'cut';
    if (this.error !== undefined) return 'error';
    return isEmpty(this.answer) ? 'empty' : 'complete';
  }

  takeTerminal(): boolean {
    return false;
  }

  /** Of an answer that was cut or could not be read, all its bytes: an estimate may not be too low. */
  get outputBytes(): number {
    return this.#outputBytes ?? this.#bytes;
  }

  get finished(): boolean {
    return this.answer !== undefined;
  }

  get failed(): boolean {
    return this.error !== undefined;
  }

  get shown(): readonly ShownResource[] {
    if (this.answer === undefined) return [];
    const { operation, stored } = this.#ask;
    return this.#family.shown?.(operation, this.answer, stored) ?? [];
  }

  get flags(): readonly string[] {
    return this.#tooLong ? ['answer_too_long'] : [];
  }
}

function errorMember(body: unknown): unknown {
  const answer: unknown = Array.isArray(body) ? body[0] : body;
  if (typeof answer !== 'object' || answer === null) return undefined;
  if ('error' in answer && answer.error !== null) return answer.error;
  return 'type' in answer && answer.type === 'error' ? answer : undefined;
}

/** `{}`, `[]`, or no object at all. */
function isEmpty(answer: unknown): boolean {
  return typeof answer !== 'object' || answer === null || Object.keys(answer).length === 0;
}
