import type { LanguageModelV4GenerateResult, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import type { Conversation, TextProtocol } from '#lib/core/translation/conversation';
import { openPackage, sendBy } from '#lib/gateway/translation/packages';

/** A request that a package has written. */
export interface Written {
  readonly body: Uint8Array;
  /** Headers of the protocol, such as `anthropic-beta`, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

/** A package did not write the request: what it cannot take, in its words. */
export class Unwritable extends Error {}

/**
 * One request and its answer in the hands of a package. The package calls `fetch` with the finished request, which the
 * gateway sends by its own attempt, and gets the provider's bytes as the response.
 */
export class PackageRun {
  readonly written: Written;
  /** Of a request that is streamed. */
  readonly streamed: Promise<LanguageModelV4StreamResult> | null;
  readonly whole: Promise<LanguageModelV4GenerateResult> | null;
  readonly #answer: (response: Response) => void;
  readonly #fail: (error: Error) => void;

  private constructor(
    written: Written,
    results: Pick<PackageRun, 'streamed' | 'whole'>,
    answer: (response: Response) => void,
    fail: (error: Error) => void,
  ) {
    this.written = written;
    this.streamed = results.streamed;
    this.whole = results.whole;
    this.#answer = answer;
    this.#fail = fail;
  }

  /** @throws Unwritable */
  static async begin(
    protocol: TextProtocol,
    model: string,
    { conversation, stream }: { readonly conversation: Conversation; readonly stream: boolean },
  ): Promise<PackageRun> {
    const asked = Promise.withResolvers<Written>();
    const answered = Promise.withResolvers<Response>();
    // When an attempt is abandoned, nothing may be waiting for this promise any more.
    answered.promise.catch(() => {});
    const languageModel = await openPackage(protocol, model);
    const send = (input: RequestInfo | URL, init?: RequestInit) => {
      asked.resolve(writtenOf(input, init));
      return answered.promise;
    };
    const [streamed, whole] = sendBy(send, () => [
      stream ? Promise.resolve(languageModel.doStream(conversation)) : null,
      stream ? null : Promise.resolve(languageModel.doGenerate(conversation)),
    ]);
    const over = (streamed ?? whole)?.then(
      () => {},
      (error: unknown) =>
        asked.reject(new Unwritable(error instanceof Error ? error.message : String(error))),
    );
    const written = await asked.promise;
    over?.catch(() => {});
    return new PackageRun(written, { streamed, whole }, answered.resolve, answered.reject);
  }

  /** Gives the package the provider's answer, of status 200. */
  answer(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, contentType: string): void {
    this.#answer(new Response(body, { headers: { 'content-type': contentType } }));
  }

  /** The attempt gave no answer that has to be read. */
  abandon(): void {
    this.#fail(new Error('the attempt gave no answer to translate'));
  }
}

function writtenOf(input: RequestInfo | URL, init: RequestInit | undefined): Written {
  const headers: Record<string, string> = {};
  new Headers(init?.headers).forEach((value, name) => {
    if (name.startsWith('anthropic-')) headers[name] = value;
  });
  const address = input instanceof Request ? input.url : String(input);
  return {
    body: Buffer.from(String(init?.body ?? '')),
    headers,
    query: new URL(address).search.slice(1),
  };
}
