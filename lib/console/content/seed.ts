import { items, members, parsed, textOf } from '#lib/console/playground/answers/piece';
import { isPlaygroundFamily, type PlaygroundFamily, type Settings } from '#lib/console/playground/draft';
import type { JsonObject } from '#lib/core/families/reading/json';
import { isUnreadable, textProtocols } from '#lib/core/translation/conversation';
import { translations } from '#lib/core/translation/index';

/** What the playground starts with. */
export interface PlaygroundSeed {
  readonly family: PlaygroundFamily;
  /** Slug. */
  readonly model: string;
  readonly settings: Partial<Settings>;
  /** The conversation before the question. */
  readonly turns: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  readonly text: string;
}

/** A call as the playground can ask it again, or why it cannot. */
export type Seeded = { readonly seed: PlaygroundSeed } | { readonly reason: string };

interface AskedCall {
  readonly family: string;
  readonly operation: string;
  readonly requestedModel: string | null;
}

const notHere = { reason: 'The playground has no such operation.' };

/** Turns a kept request into a question of the playground. Pure. @param body the request as it was sent. */
export function seedOf({ family, operation, requestedModel }: AskedCall, body: string | null): Seeded {
  const value = body === null ? null : parsed(body);
  if (requestedModel === null || typeof value !== 'object' || value === null || Array.isArray(value))
    return { reason: 'The request was not kept as a whole.' };
  if (!isPlaygroundFamily(family)) return notHere;
  const known = { family, model: requestedModel };
  const protocol = textProtocols.find((one) => one === family);
  if (protocol && talking.has(operation)) return conversationOf(known, value as JsonObject, protocol);
  const { prompt, input } = members(value);
  const lines = typeof input === 'string' ? [input] : items(input).map(textOf);
  if (operation === 'images.generate') return question(known, textOf(prompt));
  if (['embeddings', 'moderations', 'speech'].includes(family)) return question(known, lines.join('\n'));
  return notHere;
}

const talking: ReadonlySet<string> = new Set([
  'chat.create',
  'responses.create',
  'messages.create',
  'content.generate',
  'content.stream',
]);

type Known = Pick<PlaygroundSeed, 'family' | 'model'>;

function question(known: Known, text: string): Seeded {
  return text === '' ? notHere : { seed: { ...known, settings: {}, turns: [], text } };
}

function conversationOf(known: Known, body: JsonObject, protocol: (typeof textProtocols)[number]): Seeded {
  const unreadable = { reason: 'The conversation cannot be read.' };
  try {
    const read = translations[protocol].read(body);
    if (isUnreadable(read)) return unreadable;
    const { prompt, tools, maxOutputTokens, temperature } = read.conversation;
    if ((tools?.length ?? 0) > 0)
      return { reason: 'The call uses tools, which the playground does not have.' };
    const system: string[] = [];
    const turns: { role: 'user' | 'assistant'; text: string }[] = [];
    for (const { role, content } of prompt) {
      const texts = typeof content === 'string' ? [content] : content.map(plainText);
      if (role === 'tool' || texts.includes(null))
        return { reason: 'The conversation has files or tools, which cannot be opened in the playground.' };
      const text = texts.join('\n');
      if (role === 'system') system.push(text);
      else turns.push({ role, text });
    }
    const last = turns.pop();
    if (last?.role !== 'user') return { reason: 'The conversation does not end with a question.' };
    const settings = {
      stream: body.stream === true,
      ...(system.length > 0 ? { system: system.join('\n\n') } : {}),
      ...(temperature === undefined ? {} : { temperature: String(temperature) }),
      ...(maxOutputTokens === undefined ? {} : { maxTokens: String(maxOutputTokens) }),
    };
    return { seed: { ...known, settings, turns, text: last.text } };
  } catch {
    return unreadable;
  }
}

/** null: it is more than text; reasoning is left out. */
function plainText(part: unknown): string | null {
  const { type, text } = members(part);
  if (type === 'text') return textOf(text);
  return type === 'reasoning' ? '' : null;
}
