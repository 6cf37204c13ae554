import type { TextAsk } from '#tools/sandbox/chat/ask';
import type { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import { valueFor } from '#tools/sandbox/content/schema';
import { pieces } from '#tools/sandbox/content/text';
import { textTokens } from '#tools/sandbox/content/tokens';
import { argumentsFor, chooseTool } from '#tools/sandbox/content/tool-call';
import type { Truth } from '#tools/sandbox/dialect';
import { getModel } from '#tools/sandbox/models';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import { withoutDirective } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** One choice of an answer, to be sent whole or in pieces: a piece is a token. */
export interface Choice {
  readonly reasoning: number;
  /** The tool that it calls; the pieces are then its arguments. */
  readonly tool: { readonly id: string; readonly name: string } | null;
  /** It is spoken; the pieces are then the words. */
  readonly spoken: boolean;
  readonly pieces: Iterable<string>;
  /** All of its output tokens. */
  readonly tokens: number;
  readonly finish: 'stop' | 'length' | 'tool_calls';
}

export interface Composition {
  readonly choices: readonly Choice[];
  readonly truth: Truth;
}

/** All are composed at once: with more, one request could take all the memory of the process. */
const mostChoices = 128;

/**
 * Decides the answer of a request.
 * @throws ProviderFault 404 for an unknown model, 400 if budget or context do not fit it.
 */
export function compose(ask: TextAsk, base: string, behaviour: Behaviour, cache: PrefixCache): Composition {
  const model = getModel(base);
  const { choices: count = 1, transcript = '', cacheKey = null, serviceTier = null } = ask;
  if (ask.budget !== null && ask.budget > model.maxOutputTokens) {
    const most = `This model supports at most ${model.maxOutputTokens} completion tokens`;
    throw new ProviderFault(
      400,
      `max_tokens is too large: ${ask.budget}. ${most}.`,
      'invalid_value',
      'max_tokens',
    );
  }
  if (count > mostChoices) {
    const message = `Invalid 'n': expected at most ${mostChoices}, got ${count}.`;
    throw new ProviderFault(400, message, 'integer_above_max_value', 'n');
  }
  if (ask.inputTokens > model.contextTokens) {
    const most = `This model's maximum context length is ${model.contextTokens} tokens`;
    const message = `${most}. Your messages resulted in ${ask.inputTokens} tokens.`;
    throw new ProviderFault(400, message, 'context_length_exceeded', 'messages');
  }
  const wanted = { ...behaviour, reasoning: behaviour.reasoning || model.reasoning };
  const most = Math.min(ask.budget ?? model.maxOutputTokens, model.maxOutputTokens);
  const choices = Array.from({ length: count }, (_, index) => composeChoice(ask, index, most, wanted));
  const read = cache.read(transcript, cacheKey);
  return {
    choices,
    truth: {
      inputTokens: ask.inputTokens,
      cachedTokens: Math.min(read.cached, ask.inputTokens),
      cacheWriteTokens: model.reportsCacheWrites
        ? Math.min(read.written, ask.inputTokens - Math.min(read.cached, ask.inputTokens))
        : 0,
      outputTokens: choices.reduce((sum, choice) => sum + choice.tokens, 0),
      reasoningTokens: choices.reduce((sum, choice) => sum + choice.reasoning, 0),
      serviceTier: behaviour.tier ?? answeredTier(serviceTier),
    },
  };
}

function composeChoice(ask: TextAsk, index: number, most: number, behaviour: Behaviour): Choice {
  const prompt = withoutDirective(ask.prompt);
  const reasoning = Math.min(behaviour.reasoning, most);
  if (behaviour.endless && ask.stream) {
    return {
      reasoning,
      tool: null,
      spoken: ask.spoken === true,
      pieces: pieces(prompt, index, Infinity),
      tokens: Infinity,
      finish: 'stop',
    };
  }
  const tool = chooseTool(ask.tools, ask.toolChoice, prompt);
  const before = reasoning + (tool ? textTokens(tool.name) : 0);
  const room = Math.max(0, most - before);
  const json = tool ? argumentsFor(tool, prompt) : ask.schema && JSON.stringify(valueFor(ask.schema, prompt));
  const text = json
    ? (json.match(/.{1,6}/gsu) ?? [])
    : [...pieces(prompt, index, behaviour.tokens === null ? null : Math.min(behaviour.tokens, room + 1))];
  const kept = cutAtStop(text.slice(0, room), json ? [] : (ask.stops ?? []));
  const full = text.length > room && kept.length === room;
  return {
    reasoning,
    tool: tool && { id: `call_sandbox_${index}_${text.length}`, name: tool.name },
    spoken: ask.spoken === true && !tool,
    pieces: kept,
    tokens: before + kept.length,
    finish: full ? 'length' : tool ? 'tool_calls' : 'stop',
  };
}

function cutAtStop(text: readonly string[], stops: readonly string[]): readonly string[] {
  if (stops.length === 0) return text;
  const whole = text.join('');
  const found = stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0);
  if (found.length === 0) return text;
  let left = Math.min(...found);
  const kept: string[] = [];
  for (const piece of text) {
    if (left <= 0) break;
    kept.push(piece.slice(0, left));
    left -= piece.length;
  }
  return kept;
}

/** The tier that serves is not always the requested one: `fast` is served as `priority`, `auto` as `default`. */
function answeredTier(asked: string | null): string {
  if (asked === 'fast') return 'priority';
  return asked === 'flex' || asked === 'priority' ? asked : 'default';
}
