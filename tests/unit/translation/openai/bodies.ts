import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type JsonObject, objectIn } from '#lib/core/families/reading/json';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import {
  isUnreadable,
  type ReadRequest,
  type TextProtocol,
  type Unreadable,
} from '#lib/core/translation/conversation';

const targets: Readonly<Record<TextProtocol, (fetch: typeof globalThis.fetch) => LanguageModelV4>> = {
  chat: (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4.1'),
  responses: (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-4.1'),
  messages: (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5'),
  'generate-content': (fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch })('gemini-2.5-flash'),
};

/** What the package of a protocol sends to its provider. */
export async function writtenBy(
  target: TextProtocol,
  request: ReadRequest | Unreadable,
): Promise<JsonObject> {
  if (isUnreadable(request)) throw new Error(request.message);
  let sent: unknown;
  const model = targets[target](async (_url, init) => {
    sent = JSON.parse(String(init?.body));
    throw new Error('sent');
  });
  await Promise.resolve(model.doGenerate(bindThinking(request.conversation, 'nobody'))).catch(
    (error: unknown) => {
      if (sent === undefined) throw error;
    },
  );
  return objectIn(sent) ?? {};
}
