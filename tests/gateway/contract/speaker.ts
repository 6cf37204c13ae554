import { randomUUID } from 'node:crypto';
import type { EndLine } from '#lib/sandbox/truth-log';
import type { Asked } from '#tests/support/chat-call';
import { headerOf, requestText, type TalkOptions, talk } from '#tests/support/wire';

/** One way to ask one operation of a family: what the contract must know of it, and nothing else. */
export interface Speaker {
  readonly name: string;
  readonly family: string;
  readonly operation: string;
  readonly streamed: boolean;
  /** How its stream is framed; absent: its answer is one whole body. */
  readonly framing?: 'events' | 'array';
  /** Its whole answer shows what the provider keeps: none of it goes out before all of it is here. */
  readonly held?: true;
  /** Stands once in each piece of a stream that carries text. */
  readonly piece: string;
  /** The header by which its clients send their key. */
  readonly credential: 'authorization' | 'x-api-key' | 'x-goog-api-key';
  /** Of an offer whose provider works on when its client leaves. */
  readonly drained: string;
  /** Beside its key; a body is JSON where nothing is said. */
  readonly headers?: Readonly<Record<string, string>>;
  target(model: string): string;
  /** `prompt` must stand in it as it is. */
  body(model: string, prompt: string): string;
  /** Path and query at the provider, for its model "echo". */
  readonly upstreamTarget: string;
  /** The provider's bytes of a body that names `model`: its own name there, and what was injected. */
  received(body: string, model: string): string;
  /** What the client gets of what was sent; absent: every byte. */
  relayed?(sent: string): string;
  /** What the usage that the provider reported costs, nano-dollars, apart from the gateway's own code. */
  fair(end: EndLine): bigint;
  /** Generated text in one JSON value: a whole answer, an event or an element. */
  texts(value: Readonly<Record<string, unknown>>): readonly unknown[];
  /** What a stream that broke off costs, by what it had told until then; the bytes of request and output. */
  readonly broken: {
    readonly usageSource: 'reported' | 'estimated';
    /** Its input was told by then. */
    readonly tellsInput: boolean;
    nano(end: EndLine, requestBytes: number, outputBytes: number): bigint;
  };
  /** Its in-band end of a stream that broke; null: the connection is cut. */
  readonly frame: { readonly start: string; readonly keys: readonly string[] } | null;
}

interface Wish {
  readonly model?: string;
  readonly directive?: string;
  readonly say?: string;
}

type Options = TalkOptions & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly target?: string;
};

/** Sends one request over a raw socket. */
export async function askAs(
  speaker: Speaker,
  url: string,
  key: string,
  wish: Wish = {},
  options: Options = {},
): Promise<Asked> {
  const mark = randomUUID();
  const { model = 'sandbox/echo', directive, say = 'Say' } = wish;
  const body = speaker.body(model, `${say} ${mark} ${directive ? `[[${directive}]]` : ''}`);
  const headers = {
    'content-type': 'application/json',
    ...speaker.headers,
    ...credentialOf(speaker, key),
    ...options.headers,
  };
  const text = requestText('POST', options.target ?? speaker.target(model), headers, body);
  const talked = await talk(url, text, options);
  const answer = talked.answers[0] ?? { status: 0, headers: [], body: Buffer.alloc(0), whole: false };
  return { ...talked, body, mark, answer, id: headerOf(answer, 'x-request-id') ?? '' };
}

export function credentialOf(
  { credential }: Pick<Speaker, 'credential'>,
  key: string,
): Record<string, string> {
  return { [credential]: credential === 'authorization' ? `Bearer ${key}` : key };
}
