import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import fc from 'fast-check';
import type { AnswerFacts, AnswerPart, StreamWriter, WholeAnswer } from '#lib/core/translation/conversation';

/** Answers as the packages read them from a provider, for the tests of writers. */

export function makeFacts(part: Partial<AnswerFacts> = {}): AnswerFacts {
  return {
    id: '0198a3c4-0000-7000-8000-000000000001',
    model: 'vendor/name',
    createdSeconds: 1_800_000_000,
    inputTokens: 11,
    maker: 'vendor',
    echo: {},
    ...part,
  };
}

export function makeUsage(part: {
  input?: number;
  cacheRead?: number;
  cacheWrite?: number;
  output?: number;
  reasoning?: number;
}): LanguageModelV4Usage {
  const { input = 100, cacheRead = 0, cacheWrite = 0, output = 20, reasoning = 0 } = part;
  return {
    inputTokens: { total: input, noCache: input - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output - reasoning, reasoning },
  };
}

export const finish = (
  unified: WholeAnswer['finishReason']['unified'] = 'stop',
  usage: LanguageModelV4Usage = makeUsage({}),
): AnswerPart => ({ type: 'finish', finishReason: { unified, raw: unified }, usage });

export function textParts(id: string, ...deltas: readonly string[]): AnswerPart[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta): AnswerPart => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}

export function callParts(id: string, toolName: string, ...deltas: readonly string[]): AnswerPart[] {
  return [
    { type: 'tool-input-start', id, toolName },
    ...deltas.map((delta): AnswerPart => ({ type: 'tool-input-delta', id, delta })),
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName, input: deltas.join('') },
  ];
}

export function writeAll(writer: StreamWriter, parts: readonly AnswerPart[]): string {
  return parts.map((part) => writer.write(part)).join('');
}

/** A `fetch` that answers with these bytes, cut into pieces of up to `size`. */
export function answering(bytes: string | Uint8Array, contentType: string, size = 7): typeof fetch {
  const all = Buffer.from(bytes);
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= all.length) return controller.close();
        controller.enqueue(all.subarray(at, at + size));
        at += size;
      },
    });
    return new Response(body, { headers: { 'content-type': contentType } });
  };
}

/** What an answer should hold, whichever protocol it is written in. */
export interface Expected {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
}

interface Run {
  readonly parts: readonly AnswerPart[];
  readonly text: string;
  readonly call?: Expected['calls'][number];
}

const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { maxLength: 4 });

/** Blocks of an answer, each as its parts. */
const block = (index: number): fc.Arbitrary<Run> =>
  fc.oneof(
    words.map((deltas) => ({ parts: textParts(`t${index}`, ...deltas), text: deltas.join('') })),
    fc.tuple(words, fc.boolean()).map(([deltas, signed]) => ({
      parts: [
        { type: 'reasoning-start' as const, id: `r${index}` },
        ...deltas.map((delta) => ({ type: 'reasoning-delta' as const, id: `r${index}`, delta })),
        {
          type: 'reasoning-end' as const,
          id: `r${index}`,
          ...(signed ? { providerMetadata: { maker: { signature: `s${index}` } } } : {}),
        },
      ],
      text: '',
    })),
    fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(5)).map(([args, cut]) => {
      const json = JSON.stringify(args);
      const [id, name] = [`call.${index}`, `tool_${index}`];
      return {
        parts: callParts(id, name, json.slice(0, cut), json.slice(cut)),
        text: '',
        call: { id, name, args: JSON.parse(json) },
      };
    }),
  );

/** Parts of several blocks, each block in its order, but the blocks mixed with each other. */
export const mixedAnswer: fc.Arbitrary<{ parts: readonly AnswerPart[]; expected: Expected }> = fc
  .integer({ min: 0, max: 5 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => block(index))))
  .chain((runs) =>
    fc.array(fc.nat(), { minLength: 60, maxLength: 60 }).map((draws) => ({
      parts: mix(
        runs.map(({ parts }) => parts),
        draws,
      ),
      expected: {
        text: runs.map(({ text }) => text).join(''),
        calls: runs.flatMap(({ call }) => call ?? []),
      },
    })),
  );

function mix(runs: readonly (readonly AnswerPart[])[], draws: readonly number[]): AnswerPart[] {
  const rest = runs.map((run) => [...run]).filter((run) => run.length > 0);
  const mixed: AnswerPart[] = [];
  for (let turn = 0; rest.length > 0; turn++) {
    const at = (draws[turn % draws.length] ?? 0) % rest.length;
    const part = rest[at]?.shift();
    if (part) mixed.push(part);
    if (rest[at]?.length === 0) rest.splice(at, 1);
  }
  return mixed;
}
