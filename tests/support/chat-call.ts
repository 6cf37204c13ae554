import { randomUUID } from 'node:crypto';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, type Talk, type TalkOptions, talk, type Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';
import type { BeginLine } from '#tools/sandbox/truth-log';

export interface Asked extends Talk {
  /** The body that was sent. */
  readonly body: string;
  /** Part of the prompt, to find the request in the provider's log. */
  readonly mark: string;
  readonly answer: Wire;
  /** X-Request-Id. */
  readonly id: string;
}

/** Sends one chat request over a raw socket. */
export async function askChat(
  url: string,
  key: string,
  fields: Readonly<Record<string, unknown>> & { readonly directive?: string },
  options: TalkOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Asked> {
  const mark = randomUUID();
  const { directive, ...rest } = fields;
  const content = `Say ${mark} ${directive ? `[[${directive}]]` : ''}`;
  const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }], ...rest });
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...options.headers };
  const talked = await talk(url, requestText('POST', '/v1/chat/completions', headers, body), options);
  const answer = talked.answers[0] ?? {
    status: 0,
    reason: '',
    headers: [],
    body: Buffer.alloc(0),
    whole: false,
  };
  return { ...talked, body, mark, answer, id: headerOf(answer, 'x-request-id') ?? '' };
}

/** A request without a body. */
export async function ask(
  url: string,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<Wire> {
  const { answers, end } = await talk(url, requestText(method, target, headers, body));
  const [answer] = answers;
  if (!answer) throw new Error(`${method} ${target} got no answer (${end})`);
  return answer;
}

export function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

export function jsonOf(answer: Wire): Record<string, unknown> {
  return record(JSON.parse(answer.body.toString()));
}

/** `error.code` of a JSON answer; null if it has none. */
export function codeOf(answer: Wire): unknown {
  return record(jsonOf(answer).error).code;
}

/** `error.message` of a JSON answer. */
export function messageOf(answer: Wire): string {
  return String(record(jsonOf(answer).error).message);
}

/** The one request of a call as the provider saw it. */
export async function seenOf(stack: Stack, asked: { mark: string }): Promise<BeginLine> {
  const seen = await stack.sandbox.seen(asked.mark);
  const [only] = seen;
  if (!only || seen.length > 1) throw new Error(`the provider saw the call ${seen.length} times, not once`);
  return only;
}

/** The JSON that the provider received. */
export async function receivedOf(stack: Stack, asked: { mark: string }): Promise<Record<string, unknown>> {
  return record(JSON.parse((await seenOf(stack, asked)).body ?? ''));
}

/** Does something while a long stream with the key runs; then its client leaves. */
export async function whileOneRuns<Result>(
  stack: Stack,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  let result: Promise<Result> | undefined;
  const { answer } = await askChat(
    stack.url,
    key,
    // Takes minutes: its provider stops as soon as the client leaves.
    { directive: 'pace/50/5000', stream: true },
    {
      during: () => {
        result = work();
        return result;
      },
    },
  );
  if (!result) throw new Error(`the running call was not admitted: ${answer.status} ${answer.body}`);
  return result;
}
