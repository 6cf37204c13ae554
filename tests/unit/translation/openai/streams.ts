import OpenAI from 'openai';
import type { StreamReader } from '#lib/core/families/family';
import type { AnswerPart, StreamWriter } from '#lib/core/translation/conversation';
import { answering } from '#tests/unit/translation/answers';

/** What the tests of OpenAI's two protocols share: the official client over written bytes. */

export interface Frame {
  readonly name: string | null;
  readonly data: string;
}

/** The events of a stream; comments are left out. */
export function framesOf(text: string): readonly Frame[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => {
      const lines = frame.split('\n');
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { name: field('event') ?? null, data: field('data') ?? '' };
    });
}

/** What a family's own reader makes of a stream. */
export function readStream(reader: StreamReader, text: string): StreamReader {
  for (const { name, data } of framesOf(text)) reader.event(name, data);
  return reader;
}

export function clientOf(bytes: string, size: number, contentType = 'text/event-stream'): OpenAI {
  return new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: answering(bytes, contentType, size) });
}

export function writeParts(writer: StreamWriter, ...parts: readonly AnswerPart[]): string {
  return parts.map((part) => writer.write(part)).join('');
}
