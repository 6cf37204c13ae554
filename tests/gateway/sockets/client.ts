import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { record } from '#tools/sandbox/content/tool-call';

type Event = Readonly<Record<string, unknown>>;

/** Events after which nothing more comes for a request. */
const ends = [
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
  'response.steer.failed',
];

/** A client of Responses over a WebSocket. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly events: Event[] = [];
  /** The text of each frame. */
  readonly frames: string[] = [];
  readonly closed: Promise<readonly [code: number, reason: string]>;
  #told: () => void = () => {};

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.frames.push(String(data));
      this.events.push(record(JSON.parse(String(data))));
      this.#told();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve([code, String(reason)]));
    });
    void this.closed.then(() => this.#told());
  }

  /** @throws with the status of the answer, if the handshake is refused. */
  static async open(url: string, key: string, options: ClientOptions = {}): Promise<SocketClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
      ...options,
      headers: { authorization: `Bearer ${key}`, ...options.headers },
    });
    const client = new SocketClient(socket);
    await once(socket, 'open');
    return client;
  }

  /** Asks for a response. @returns a part of its prompt, to find it at the provider. */
  ask(fields: Event & { readonly directive?: string } = {}): string {
    const mark = randomUUID();
    const { directive, ...rest } = fields;
    const input = `Say ${mark} ${directive ? `[[${directive}]]` : ''}`;
    this.socket.send(JSON.stringify({ type: 'response.create', model: 'sandbox/echo', input, ...rest }));
    return mark;
  }

  /** Waits until so many requests have ended since the first event. @returns the last event. */
  async ended(count = 1): Promise<Event> {
    return this.until(() => {
      const last = this.events.filter(({ type }) => ends.includes(String(type)));
      return last[count - 1];
    });
  }

  /** Waits until something is true of what came. */
  async until<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed: ${this.frames.at(-1)}`);
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}
