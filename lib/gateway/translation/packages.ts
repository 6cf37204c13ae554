import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { TextProtocol } from '#lib/core/translation/conversation';

/** Where a package believes its provider to be: the gateway's own attempt sends the request. */
const settings = { apiKey: 'unused', baseURL: 'http://provider' };

/**
 * The package that writes requests of a protocol and reads its answers (docs/decisions/translation.md). It is loaded
 * with the first call that needs it.
 * @param model the provider's name of the model, by which packages know what it accepts.
 * @param fetch gets the written request, and gives the provider's answer back.
 */
export async function openPackage(
  protocol: TextProtocol,
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModelV4> {
  switch (protocol) {
    case 'chat': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({
        ...settings,
        // Names the options that it reads.
        name: 'openai',
        supportsStructuredOutputs: true,
        fetch,
      });
      return provider.chatModel(model);
    }
    case 'responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ ...settings, fetch }).responses(model);
    }
    case 'messages': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ ...settings, fetch })(model);
    }
    case 'generate-content': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ ...settings, fetch })(model);
    }
  }
}
