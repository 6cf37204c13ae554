import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { TextProtocol } from '#lib/core/translation/conversation';

type Send = typeof globalThis.fetch;

/** What sends the request that a package has written: each call has its own. */
const sending = new AsyncLocalStorage<Send>();

/** Where a package believes its provider to be: the gateway's own attempt sends the request. */
const settings: { readonly apiKey: string; readonly baseURL: string; readonly fetch: Send } = {
  apiKey: 'unused',
  baseURL: 'http://provider',
  fetch: (input, init) => {
    const send = sending.getStore();
    if (!send) throw new Error('a package has sent a request outside of a call');
    return send(input, init);
  },
};

/** Calls share these objects, because some packages compile schemas of their own for each, which takes over 100 KiB. */
const models = new Map<string, Promise<LanguageModelV4>>();

/**
 * The package that writes requests of a protocol and reads its answers (docs/decisions/translation.md). It is loaded
 * with the first call that needs it, and may be called only inside `sendBy`.
 * @param model the provider's name of the model, by which packages know what it accepts.
 */
export function openPackage(protocol: TextProtocol, model: string): Promise<LanguageModelV4> {
  const name = `${protocol} ${model}`;
  const opened = models.get(name) ?? openModel(protocol, model);
  models.set(name, opened);
  return opened;
}

/** Runs `call`; what a package sends in it goes to `send`, which gives the provider's answer back. */
export function sendBy<Result>(send: Send, call: () => Result): Result {
  return sending.run(send, call);
}

async function openModel(protocol: TextProtocol, model: string): Promise<LanguageModelV4> {
  switch (protocol) {
    case 'chat': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({
        ...settings,
        // Names the options that it reads.
        name: 'openai',
        supportsStructuredOutputs: true,
      });
      return provider.chatModel(model);
    }
    case 'responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI(settings).responses(model);
    }
    case 'messages': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(settings)(model);
    }
    case 'generate-content': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI(settings)(model);
    }
  }
}
