import { isRefusal, type Refusal } from '#lib/core/errors';
import { injectsUsage, usageEdit } from '#lib/core/families/chat/edits';
import { chatErrorIn, chatOutputBytes } from '#lib/core/families/chat/output';
import { ChatStream } from '#lib/core/families/chat/stream';
import { readChatUsage } from '#lib/core/families/chat/usage';
import { budgetedEdits } from '#lib/core/families/edits';
import { type Ask, type Family, ownPath, type RawAsk } from '#lib/core/families/family';
import { faultReader } from '#lib/core/families/reading/fault';
import {
  readFlag,
  readModel,
  readObject,
  readTier,
  readWhole,
  takeAll,
} from '#lib/core/families/reading/fields';
import { listIn, parseJson } from '#lib/core/families/reading/json';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';

const withBudget = budgetedEdits('max_tokens');

/** Completions of a prompt, which came before chat: answers and streams have the form of chat, with `text`. */
export const completions: Family = {
  id: 'completions',
  operations: [
    {
      name: 'completions.create',
      family: 'completions',
      method: 'POST',
      path: 'completions',
      prefixes: ['v1'],
      steps: 'generate',
      budgeted: true,
      fields: {
        model: {},
        stream: {},
        stream_options: { fields: { include_usage: {} } },
        max_tokens: {},
        n: {},
        best_of: {},
        prompt: { unread: true },
        service_tier: {},
      },
    },
  ],
  readAsk: readCompletionsAsk,
  edits: (ask, offer, injectBudget) => {
    const edits = withBudget(ask, offer, injectBudget);
    return injectsUsage(ask, offer) ? [...edits, usageEdit(ask)] : edits;
  },
  injectsUsage,
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  readUsage: readChatUsage,
  outputBytes: chatOutputBytes,
  errorIn: chatErrorIn,
  streamReader: (ask) => new ChatStream(ask),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: ({ message, code }) => `data: ${JSON.stringify({ error: { message, code } })}\n\n`,
  signOfLife: ': keep-alive\n\n',
  clientPath: '/v1/completions',
  leastBody: { prompt: 'hello' },
};

/** Every prompt gets its own completions, and `best_of` more than come back (contract: admission/output-budget). */
function readCompletionsAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  const read = takeAll({
    model: readModel(scan),
    stream: readFlag(scan, 'stream'),
    options: readObject(scan, 'stream_options'),
    includeUsage: readFlag(scan, 'stream_options.include_usage'),
    budget: readWhole(scan, 'max_tokens', 0),
    choices: readWhole(scan, 'n', 1),
    best: readWhole(scan, 'best_of', 1),
    serviceTier: readTier(scan),
  });
  if (isRefusal(read)) return read;
  const { model, stream, budget, choices, best, serviceTier } = read;
  return {
    ...raw,
    model,
    stream,
    budget,
    choices: Math.max(choices ?? 1, best ?? 1) * countPrompts(scan),
    serviceTier,
    weight: weigh(scan, noMedia, 0),
  };
}

const noMedia: ReadonlySet<string> = new Set();

/** A list of strings, or of lists of tokens, has a prompt in each element; a list of tokens is one prompt. */
function countPrompts({ found, body }: Scan): number {
  const prompt = found.get('prompt');
  if (prompt?.type !== 'array') return 1;
  const elements = listIn(parseJson(Buffer.from(body.subarray(prompt.start, prompt.end)).toString()));
  return Math.max(1, elements.filter((one) => typeof one !== 'number').length);
}
