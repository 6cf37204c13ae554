import { chat, chatError } from '#tools/sandbox/chat';
import { readChatAsk } from '#tools/sandbox/chat/ask';
import { compose } from '#tools/sandbox/chat/compose';
import { chatUsage } from '#tools/sandbox/chat/usage';
import { readJson } from '#tools/sandbox/content/tool-call';
import { type Dialect, type Frame, whole } from '#tools/sandbox/dialect';
import { missingParameter } from '#tools/sandbox/scenario/provider-fault';

/** Completions of prompts as api.openai.com returns them: what chat would answer to each, as `text`. */
export const completions: Dialect = {
  ...chat,
  id: 'completions',

  handles: (method, path) => method === 'POST' && path === '/completions',

  open(seen, cache) {
    const asked = readJson(seen.body);
    const prompts = promptsIn(asked.prompt);
    const { prompt: _, best_of: __, ...rest } = asked;
    const each = typeof asked.n === 'number' ? asked.n : 1;
    const messages = prompts.map((content) => ({ role: 'user', content }));
    const ask = readChatAsk(Buffer.from(JSON.stringify({ ...rest, messages, n: each * prompts.length })));
    return {
      model: ask.model,
      stream: ask.stream,
      prompt: ask.prompt,
      answer(base, behaviour) {
        const { choices, truth } = compose(ask, base, behaviour, cache);
        const usage = chatUsage(ask, truth, behaviour.usage);
        const head = {
          id: `cmpl-${seen.id.slice(4)}`,
          object: 'text_completion',
          created: Math.floor(seen.atMs / 1000),
          model: ask.model,
        };
        const made = (index: number, text: string, finish: string | null) => ({
          index,
          text,
          logprobs: null,
          finish_reason: finish,
        });
        if (!ask.stream) {
          const listed = choices.map(({ pieces, finish }, index) =>
            made(index, [...pieces].join(''), String(finish)),
          );
          const reported = usage === undefined ? {} : { usage };
          return whole({ ...head, choices: listed, ...reported }, usage, truth);
        }
        function* frames(): Generator<Frame> {
          for (const [index, { pieces, finish }] of choices.entries()) {
            for (const piece of pieces) {
              const data = JSON.stringify({ ...head, choices: [made(index, piece, null)] });
              yield { name: null, data, content: true, tokens: 1 };
            }
            const data = JSON.stringify({ ...head, choices: [made(index, '', String(finish))] });
            yield { name: null, data, content: false, tokens: 0 };
          }
          if (ask.includeUsage && usage !== undefined) {
            const data = JSON.stringify({ ...head, choices: [], usage });
            yield { name: null, data, content: false, tokens: 0, usage };
          }
          yield { name: null, data: '[DONE]', content: false, tokens: 0 };
        }
        return { truth, content: { kind: 'stream', frames: frames() } };
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: chatError(fault) }),
};

/** A string, a list of strings, a list of tokens, or a list of those. */
function promptsIn(prompt: unknown): string[] {
  const list = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt];
  const texts = list.map((one: unknown) => (Array.isArray(one) ? one.join(' ') : one));
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string')) throw missingParameter('prompt');
  return texts.map(String);
}
