import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { messageOf } from '#lib/core/errors';
import type { Meter } from '#lib/core/metering/meter';
import { totalUsage, type UsageReport } from '#lib/core/metering/usage';
import { MAX_ANSWER_BYTES } from '#lib/core/metering/whole-meter';
import type { AnswerFacts, AnswerPart, StreamWriter, TextProtocol } from '#lib/core/translation/conversation';
import { translations } from '#lib/core/translation/index';
import type { PackageRun } from '#lib/gateway/translation/package-run';
import type { ExchangeReader } from '#lib/gateway/upstream/exchange';

/** The provider's answer could not be read or written in the client's protocol. */
export class UntranslatableAnswer extends Error {
  readonly code = 'UNTRANSLATABLE_ANSWER';
}

/** What passes an answer on needs to know of it. */
export interface AnswerSource {
  /** Sees the provider's bytes before they come here: its figures replace those of the package. */
  readonly meter: Meter;
  /** Whether the answer, which has ended, lacks its own end: it is not read further then. */
  isCut(): boolean;
}

/** An answer on its way from the provider's protocol to the client's. */
export interface AnswerTranslation {
  /** @param reader gets the client's bytes. @returns what gets the provider's. */
  through(reader: ExchangeReader, source: AnswerSource): ExchangeReader;
  /** The client's own error event, for an answer that broke off; empty: it has its end already. */
  breakOff(message: string): string;
}

/** @param elements the client reads a stream as the elements of a JSON array (contract: translation/streams). */
export function translateStream(
  protocol: TextProtocol,
  run: PackageRun,
  facts: AnswerFacts,
  elements: boolean,
): AnswerTranslation {
  const writer = translations[protocol].createWriter(facts);
  return new StreamTranslation(run, elements ? inArray(writer) : writer);
}

export function translateWhole(
  protocol: TextProtocol,
  run: PackageRun,
  facts: AnswerFacts,
): AnswerTranslation {
  return new WholeTranslation(run, (answer, usage) =>
    JSON.stringify(translations[protocol].writeWhole({ ...answer, usage }, facts)),
  );
}

class StreamTranslation implements AnswerTranslation, ExchangeReader {
  readonly #run: PackageRun;
  readonly #writer: StreamWriter;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #reader: ExchangeReader | null = null;
  #source: AnswerSource | null = null;
  /** What the package still says is not passed on. */
  #over = false;

  constructor(run: PackageRun, writer: StreamWriter) {
    this.#run = run;
    this.#writer = writer;
  }

  through(reader: ExchangeReader, source: AnswerSource): ExchangeReader {
    this.#reader = reader;
    this.#source = source;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    this.#run.answer(body, 'text/event-stream');
    void this.#passOn(reader, source.meter);
    return this;
  }

  breakOff(message: string): string {
    return this.#writer.breakOff(message);
  }

  data(chunk: Uint8Array): void {
    if (!this.#over) this.#controller?.enqueue(chunk);
  }

  end(): void {
    if (this.#over) return;
    if (this.#source?.isCut()) this.#stop((reader) => reader.end());
    else this.#controller?.close();
  }

  fail(error: Error): void {
    if (!this.#over) this.#stop((reader) => reader.fail(error));
  }

  /**
   * Ends the answer once the package has passed on what it got: it works in microtasks only, so that is done when the
   * event loop turns. Closed, it would make up an end of its own.
   */
  #stop(tell: (reader: ExchangeReader) => void): void {
    setImmediate(() => {
      if (this.#over) return;
      this.#over = true;
      if (this.#reader) tell(this.#reader);
      this.#controller?.error(new Error('the answer broke off'));
    });
  }

  async #passOn(reader: ExchangeReader, meter: Meter): Promise<void> {
    try {
      const result = await this.#run.streamed;
      const parts = result?.stream.getReader();
      if (!parts) throw new Error('the package gave no stream');
      for (;;) {
        const { done, value } = await parts.read();
        if (this.#over) return;
        if (done) break;
        const text = this.#writer.write(metered(value, meter));
        if (text !== '') reader.data(Buffer.from(text));
      }
      this.#over = true;
      reader.end();
    } catch (error) {
      if (this.#over) return;
      this.#over = true;
      reader.fail(new UntranslatableAnswer(messageOf(error)));
    }
  }
}

type WriteWhole = (answer: Awaited<NonNullable<PackageRun['whole']>>, usage: LanguageModelV4Usage) => string;

class WholeTranslation implements AnswerTranslation, ExchangeReader {
  readonly #run: PackageRun;
  readonly #write: WriteWhole;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #reader: ExchangeReader | null = null;
  #source: AnswerSource | null = null;

  constructor(run: PackageRun, write: WriteWhole) {
    this.#run = run;
    this.#write = write;
  }

  through(reader: ExchangeReader, source: AnswerSource): ExchangeReader {
    this.#reader = reader;
    this.#source = source;
    return this;
  }

  breakOff(): string {
    return '';
  }

  data(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_ANSWER_BYTES) this.#chunks.push(chunk);
  }

  end(): void {
    const { meter } = this.#source ?? {};
    if (!meter || this.#source?.isCut()) this.#reader?.end();
    else void this.#translate(meter);
  }

  fail(error: Error): void {
    this.#reader?.fail(error);
  }

  async #translate(meter: Meter): Promise<void> {
    try {
      if (this.#bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
      this.#run.answer(new Uint8Array(Buffer.concat(this.#chunks)), 'application/json');
      this.#chunks = [];
      const answer = await this.#run.whole;
      if (!answer) throw new Error('the package gave no answer');
      this.#reader?.data(Buffer.from(this.#write(answer, usageOf(meter.report(), answer.usage))));
    } catch (error) {
      this.#reader?.fail(new UntranslatableAnswer(messageOf(error)));
      return;
    }
    this.#reader?.end();
  }
}

/** The end of a stream with the usage that the call is charged for: some packages overlook figures. */
function metered(part: AnswerPart, meter: Meter): AnswerPart {
  return part.type === 'finish' ? { ...part, usage: usageOf(meter.report(), part.usage) } : part;
}

function usageOf(report: UsageReport | null, told: LanguageModelV4Usage): LanguageModelV4Usage {
  if (report === null || report.unread || report.outputOpen) return told;
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning } = totalUsage(report);
  const cacheWrite = cacheWrite5m + cacheWrite1h;
  return {
    inputTokens: {
      total: input + cachedInput + cacheWrite,
      noCache: input,
      cacheRead: cachedInput,
      cacheWrite,
    },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
  };
}

/** The data of events as the elements of one JSON array. */
function inArray(writer: StreamWriter): StreamWriter {
  let begun = false;
  let ended = false;
  const elements = (events: string, ends: boolean): string => {
    if (ended) return '';
    let text = '';
    for (const event of events.split(/\r?\n\r?\n/)) {
      const data = event.replace(/^data: /, '');
      if (data === '') continue;
      text += `${begun ? ',\n' : '['}${data}`;
      begun = true;
    }
    if (!ends) return text;
    ended = true;
    return `${begun ? text : `${text}[`}]`;
  };
  return {
    write: (part) => elements(writer.write(part), part.type === 'finish' || part.type === 'error'),
    breakOff: (message) => elements(writer.breakOff(message), true),
  };
}
