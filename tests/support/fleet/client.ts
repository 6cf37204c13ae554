import { randomBytes } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { record } from '#tools/sandbox/content/tool-call';

/** One call as its client saw it. */
export interface Told {
  /** 32 hex digits: the call's client_request_id, and in the provider's log its `attemptId`. */
  readonly mark: string;
  /** 0: no response head arrived. */
  readonly status: number;
  /** X-Request-Id; '' if no head arrived. */
  readonly id: string;
  /** The answer's framing ended as announced. */
  readonly whole: boolean;
  readonly text: string;
}

export interface Wish {
  /** What the simulated provider should do; see tools/sandbox/scenario/name.ts. */
  readonly directive?: string;
  readonly stream?: boolean;
  readonly model?: string;
  readonly maxTokens?: number;
  /** Hangs up after this many events. */
  readonly leaveAfter?: number;
}

/** Makes many chat calls over kept connections, like an application's server. */
export class Client {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

  constructor(url: string) {
    this.#url = new URL('/v1/chat/completions', url);
  }

  /**
   * Makes a call, and repeats it while the gateway cannot resolve its key: on a busy machine, the database
   * may not answer in time.
   * @param headed called when the head of an answer has arrived.
   */
  async ask(key: string, wish: Wish = {}, headed: () => void = () => {}): Promise<Told> {
    for (;;) {
      const told = await this.#send(key, wish, (status) => {
        if (status !== 502 && status !== 429) headed();
      });
      if (!keyUnresolved(told)) return told;
      await pause(250);
    }
  }

  /**
   * Never rejects.
   * @param headed called when the answer's head has arrived.
   * @param grown called with each piece of its body.
   */
  call(
    key: string,
    wish: Wish = {},
    headed: () => void = () => {},
    grown: () => void = () => {},
  ): Promise<Told> {
    return this.#send(key, wish, () => headed(), grown);
  }

  #send(
    key: string,
    wish: Wish,
    headed: (status: number) => void,
    grown: () => void = () => {},
  ): Promise<Told> {
    const mark = randomBytes(16).toString('hex');
    const content = `Say something ${wish.directive ? `[[${wish.directive}]]` : ''}`;
    const body = JSON.stringify({
      model: wish.model ?? 'sandbox/echo',
      messages: [{ role: 'user', content }],
      ...(wish.stream ? { stream: true } : {}),
      ...(wish.maxTokens === undefined ? {} : { max_tokens: wish.maxTokens }),
    });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': mark,
      traceparent: `00-${mark}-${mark.slice(16)}-01`,
    };
    return new Promise((resolve) => {
      let answer: IncomingMessage | null = null;
      let text = '';
      const settle = () =>
        resolve({
          mark,
          status: answer?.statusCode ?? 0,
          id: String(answer?.headers['x-request-id'] ?? ''),
          whole: answer?.complete === true,
          text,
        });
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        answer = response;
        headed(response.statusCode ?? 0);
        response.setEncoding('utf8');
        response.on('data', (piece) => {
          text += piece;
          grown();
          if (wish.leaveAfter !== undefined && text.split('data: {').length > wish.leaveAfter) sent.destroy();
        });
        response.on('error', () => {}).on('close', settle);
      });
      sent.on('error', () => answer === null && settle());
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** `error.code` of a refusal; '' for anything else. */
export function codeOf(told: Told): string {
  if (told.status < 400 || !told.whole) return '';
  return String(record(record(JSON.parse(told.text)).error).code ?? '');
}

/**
 * Whether the key could not be resolved: if the database does not answer, the call has no row
 * (contract: call-log/row).
 */
export function keyUnresolved(told: Told): boolean {
  return ['auth_resolve_failed', 'hydrate_cooldown'].includes(codeOf(told));
}

/** The mark in one of our traceparents. */
export function markOf(traceparent: string | null): string {
  return traceparent?.split('-')[1] ?? '';
}
