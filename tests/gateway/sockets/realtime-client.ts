import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { record } from '#tools/sandbox/content/tool-call';

export type Event = Readonly<Record<string, unknown>>;

/** A client of the Realtime API. */
export class RealtimeClient {
  readonly socket: WebSocket;
  readonly events: Event[] = [];
  readonly closed: Promise<readonly [code: number, reason: string]>;
  /** The session's id, as the answer to its handshake has it. */
  id = '';
  #tell: () => void = () => {};

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('upgrade', ({ headers }) => {
      this.id = String(headers['x-request-id']);
    });
    socket.on('message', (data, isBinary) => {
      if (!isBinary) this.events.push(record(JSON.parse(String(data))));
      this.#tell();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve([code, String(reason)]));
    });
    void this.closed.then(() => this.#tell());
  }

  /** @throws with the status of the answer, if the handshake is refused. */
  static async open(
    url: string,
    key: string | null,
    {
      model = 'sandbox/talker',
      query = `model=${encodeURIComponent(model)}`,
      protocols = [],
      ...options
    }: ClientOptions & {
      readonly model?: string;
      readonly query?: string;
      readonly protocols?: readonly string[];
    } = {},
  ): Promise<RealtimeClient> {
    const address = `${url.replace('http', 'ws')}/v1/realtime?${query}`;
    const socket = new WebSocket(address, [...protocols], {
      ...options,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...options.headers },
    });
    const client = new RealtimeClient(socket);
    await once(socket, 'open');
    return client;
  }

  send(event: Event): void {
    this.socket.send(JSON.stringify(event));
  }

  /** Says something and asks for a response in text. @returns a part of what was said, to find it at the provider. */
  ask(fields: Event & { readonly directive?: string; readonly response?: Event } = {}): string {
    const { directive, response = {}, ...rest } = fields;
    const mark = randomUUID();
    this.say(`Say ${mark} ${directive ? `[[${directive}]]` : ''}`);
    this.send({ type: 'response.create', response: { output_modalities: ['text'], ...response }, ...rest });
    return mark;
  }

  say(text: string): void {
    const content = [{ type: 'input_text', text }];
    this.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  }

  /** So many milliseconds of sound, or of silence. */
  hear(ms: number, silent = false): void {
    const audio = Buffer.alloc(ms * 48, silent ? 0 : 1).toString('base64');
    this.send({ type: 'input_audio_buffer.append', audio });
  }

  ofType(type: string): readonly Event[] {
    return this.events.filter((event) => event.type === type);
  }

  /** Waits for so many events of a type. @returns the last of them. */
  async await(type: string, count = 1): Promise<Event> {
    return this.until(() => this.ofType(type)[count - 1]);
  }

  async until<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`closed: ${JSON.stringify(this.events.at(-1))}`);
      await new Promise<void>((resolve) => {
        this.#tell = resolve;
      });
    }
  }

  async close(code?: number, reason?: string): Promise<void> {
    this.socket.close(code, reason);
    await this.closed;
  }
}

/** What the usage of a `response.done` costs at the prices of sandbox/talker, nano-dollars; apart from the gateway. */
export function fairTalkNano(done: Event): bigint {
  const usage = record(record(done.response).usage);
  const into = record(usage.input_token_details);
  const cached = record(into.cached_tokens_details);
  const out = record(usage.output_token_details);
  const count = (from: Event, name: string) => BigInt(Number(from[name] ?? 0));
  const audioIn = count(into, 'audio_tokens') - count(cached, 'audio_tokens');
  const textIn = count(into, 'text_tokens') - count(cached, 'text_tokens');
  return (
    textIn * 4_000n +
    audioIn * 32_000n +
    count(into, 'cached_tokens') * 400n +
    count(out, 'text_tokens') * 16_000n +
    count(out, 'audio_tokens') * 64_000n
  );
}
