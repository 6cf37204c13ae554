import { randomUUID } from 'node:crypto';
import type { Asked } from '#tests/support/chat-call';
import { headerOf, requestText, type TalkOptions, talk } from '#tests/support/wire';
import type { EndLine } from '#tools/sandbox/truth-log';

/** One way to ask one operation of a family: what the contract must know of it, and nothing else. */
export interface Speaker {
  readonly name: string;
  readonly family: string;
  readonly operation: string;
  readonly streamed: boolean;
  /** How its stream is framed; absent: its answer is one whole body. */
  readonly framing?: 'events' | 'array';
  /** Stands once in each piece of a stream that carries text. */
  readonly piece: string;
  /** The header by which its clients send their key. */
  readonly credential: 'authorization' | 'x-api-key' | 'x-goog-api-key';
  /** Offered by the simulated provider, which calls it by what stands behind the slash. */
  readonly model: string;
  /** The same where the provider works on when its client leaves. */
  readonly drained: string;
  /** Nano-dollars a token of both. */
  readonly rates: { readonly input: bigint; readonly output: bigint };
  /** Beside its key; a body is JSON where nothing is said. */
  readonly headers?: Readonly<Record<string, string>>;
  target(model: string): string;
  /** `prompt` must stand in it as it is. */
  body(model: string, prompt: string): string;
  /** Path and query at the provider. */
  readonly upstreamTarget: string;
  /** The provider's bytes of a body that names `model`: its own name there, and what was injected. */
  received(body: string, model: string): string;
  /** What the client gets of what was sent; absent: every byte. */
  relayed?(sent: string): string;
  /** What the usage that the provider reported costs, nano-dollars, apart from the gateway's own code. */
  fair(end: EndLine): bigint;
  /** UTF-8 bytes of generated text in one JSON value, a whole answer, an event or an element; of pictures their tokens × 4. */
  written(value: Readonly<Record<string, unknown>>): number;
  /** What a request's input costs by estimate; absent: a token for four bytes of its body. */
  inputNano?(body: string): bigint;
  /** What a stream that broke off costs, by what it had told until then. */
  readonly broken: {
    readonly usageSource: 'reported' | 'estimated';
    /** How much of its input was told by then. */
    readonly tellsInput: 'all' | 'by piece' | 'nothing';
    /** Absent: what was written, by estimate. */
    nano?(end: EndLine, outputBytes: number): bigint;
  };
  /**
   * Its in-band end of a stream that broke: how it starts, and the keys of its event and of a second one, where it has
   * two; null: the connection is cut.
   */
  readonly frame: {
    readonly start: string;
    readonly keys: readonly string[];
    readonly last?: readonly string[];
  } | null;
}

interface Wish {
  readonly model?: string;
  readonly directive?: string;
  readonly say?: string;
}

type Options = Omit<TalkOptions, 'leaveAfter'> & {
  /** Leave once this has come about; gets the prompt's unique mark. */
  readonly leaveAfter?: (mark: string) => Promise<unknown>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly target?: string;
};

/** Sends one request over a raw socket. */
export async function askAs(
  speaker: Pick<Speaker, 'model' | 'headers' | 'credential' | 'target' | 'body'>,
  url: string,
  key: string,
  wish: Wish = {},
  options: Options = {},
): Promise<Asked> {
  const mark = randomUUID();
  const { model = speaker.model, directive, say = 'Say' } = wish;
  const body = speaker.body(model, `${say} ${mark} ${directive ? `[[${directive}]]` : ''}`);
  const headers = {
    'content-type': 'application/json',
    ...speaker.headers,
    ...credentialOf(speaker, key),
    ...options.headers,
  };
  const text = requestText('POST', options.target ?? speaker.target(model), headers, body);
  const { leaveAfter, ...rest } = options;
  const talked = await talk(url, text, leaveAfter ? { ...rest, leaveAfter: leaveAfter(mark) } : rest);
  const answer = talked.answers[0] ?? {
    status: 0,
    reason: '',
    headers: [],
    body: Buffer.alloc(0),
    whole: false,
  };
  return { ...talked, body, mark, answer, id: headerOf(answer, 'x-request-id') ?? '' };
}

export function credentialOf(
  { credential }: Pick<Speaker, 'credential'>,
  key: string,
): Record<string, string> {
  return { [credential]: credential === 'authorization' ? `Bearer ${key}` : key };
}

/** What a call costs of which only bytes are known: a token for four of them, each sum rounded up. */
export function estimatedNano({ rates, inputNano }: Speaker, body: string, outputBytes: number): bigint {
  const input = inputNano ? inputNano(body) : BigInt(Math.ceil(Buffer.byteLength(body) / 4)) * rates.input;
  return input + BigInt(Math.ceil(outputBytes / 4)) * rates.output;
}

/** UTF-8 bytes of those that are texts. */
export function bytesOf(texts: readonly unknown[]): number {
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0),
    0,
  );
}

/** What sandbox/echo and most models of the tests cost: $1 and $4 a million. */
export const usualRates = { input: 1_000n, output: 4_000n };
