import { randomBytes } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { record } from '#tools/sandbox/content/tool-call';

/** One call as its client saw it. */
export interface Told {
  /** 32 hex digits: the call's client_request_id, and in the provider's log its `attemptId`. */
  readonly mark: string;
  /** 0: no answer's head came. */
  readonly status: number;
  /** X-Request-Id; '' when no head came. */
  readonly id: string;
  /** The answer's framing ended as announced. */
  readonly whole: boolean;
  readonly text: string;
}

export interface Wish {
  /** What the simulated provider is to do; see tools/sandbox/scenario/name.ts. */
  readonly directive?: string;
  readonly stream?: boolean;
  readonly model?: string;
  readonly maxTokens?: number;
  /** Hang up once so many events have come. */
  readonly leaveAfter?: number;
}

/** Many chat calls over kept connections, as an application's server would make them. */
export class Client {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

  constructor(url: string) {
    this.#url = new URL('/v1/chat/completions', url);
  }

  /**
   * A call that is made again while nobody knows whose key it is: on a busy machine the database does not tell in time.
   * @param headed told when the head of an answer is here.
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
   * @param headed told when the answer's head is here.
   * @param grown told of each piece of its body.
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

/** Nobody knows whose call it was: a database that is asked in vain leaves it without a row (contract: call-log/row). */
export function keyUnresolved(told: Told): boolean {
  return ['auth_resolve_failed', 'hydrate_cooldown'].includes(codeOf(told));
}

/** The mark that a traceparent of ours carries. */
export function markOf(traceparent: string | null): string {
  return traceparent?.split('-')[1] ?? '';
}
