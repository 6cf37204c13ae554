import { type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import type { Conversation, TextProtocol } from '#lib/core/translation/conversation';
import { type Droppable, droppables, hasJsonTool } from '#lib/gateway/translation/pure/droppables';

/** The least budget of thinking that Anthropic accepts, tokens. */
const LEAST_THINKING = 1_024;
/** The least budget of thinking that all models of Google accept, tokens. */
const LEAST_GOOGLE_THINKING = 512;
/** The share of the output budget that thinking may have at most; the rest is for the answer. */
const MOST_OF_BUDGET = 0.8;

/** A written request as it is sent. */
export interface Settled {
  readonly body: Uint8Array;
  /** Fields of the client's request that the package has left out, under the client's names. */
  readonly dropped: readonly string[];
}

export interface Written {
  readonly from: TextProtocol;
  readonly to: TextProtocol;
  readonly conversation: Conversation;
  /** Output tokens, thinking included. */
  readonly budget: number;
}

/**
 * Checks what a package has written of what it may have changed by itself (docs/decisions/translation.md): the output
 * budget is the one that the call is held for, and thinking is part of it instead of being added to it; fields that the
 * model rejects are named.
 */
export function settleWritten(body: Uint8Array, written: Written): Settled {
  const asked = droppables[written.to].filter(({ asks }) => asks(written.conversation));
  const change = changes[written.to];
  if (asked.length === 0 && !change?.isNeeded(Buffer.from(body), written)) return { body, dropped: [] };
  const before = objectIn(parseJson(Buffer.from(body).toString('utf8'))) ?? {};
  const after = change?.apply(before, written) ?? before;
  const dropped = asked.flatMap((one) => nameIfDropped(one, after, written));
  return { body: after === before ? body : Buffer.from(JSON.stringify(after)), dropped };
}

function nameIfDropped({ has, names }: Droppable, body: JsonObject, { from }: Written): string[] {
  const name = names[from];
  return name === undefined || has(body) ? [] : [name];
}

interface Change {
  /** A cheap look at the bytes, which may be many. */
  isNeeded(body: Buffer, written: Written): boolean;
  /** @returns the same object if nothing has to change. */
  apply(body: JsonObject, written: Written): JsonObject;
}

const changes: Partial<Record<TextProtocol, Change>> = {
  responses: {
    isNeeded: (_, written) => tierOf(written) !== undefined,
    apply: keepTier,
  },
  messages: {
    isNeeded: (body, { budget }) => {
      const [, written] =
        /^\{"model":"(?:[^"\\]|\\.)*","max_tokens":(\d+)[,}]/.exec(body.toString('latin1', 0, 1_024)) ?? [];
      return written !== String(budget) || body.includes('"thinking":{');
    },
    apply: fitMessages,
  },
  'generate-content': {
    isNeeded: (body) => body.includes('"thinkingBudget"'),
    apply: fitGoogleThinking,
  },
};

function tierOf({ conversation }: Written): unknown {
  return conversation.providerOptions?.openai?.serviceTier;
}

/** The package knows by the model's name which tiers it has; a name that it does not know has them all. */
function keepTier(body: JsonObject, written: Written): JsonObject {
  const tier = tierOf(written);
  return tier === undefined || 'service_tier' in body ? body : { ...body, service_tier: tier };
}

/**
 * The budget as it was asked for: the package limits it to what it knows of the model, and adds thinking. Whether
 * thinking is shown depends on the model if nothing is said of it.
 */
function fitMessages(body: JsonObject, written: Written): JsonObject {
  const { thinking: asked, ...rest } = body;
  const bounded = { ...rest, max_tokens: written.budget };
  const thinking = objectIn(asked);
  if (!thinking) return bounded;
  const { budget_tokens: tokens, type } = thinking;
  const showable = type === 'enabled' || type === 'adaptive';
  const shown = showable && isShown(written) ? { display: 'summarized', ...thinking } : thinking;
  if (typeof tokens !== 'number') return { ...bounded, thinking: shown };
  const { responseFormat: format } = written.conversation;
  // A schema is kept by a tool that has to be called, which Anthropic refuses beside thinking.
  if (format?.type === 'json' && format.schema && hasJsonTool(body))
    return { ...bounded, tool_choice: { type: 'any', disable_parallel_tool_use: true } };
  const most = Math.floor(written.budget * MOST_OF_BUDGET);
  if (most < LEAST_THINKING) return bounded;
  return { ...bounded, thinking: { ...shown, budget_tokens: Math.min(tokens, most) } };
}

/** Whether the client wants to see thinking, in the words of its reader. */
function isShown({ conversation: { providerOptions } }: Written): boolean {
  const { thinkingConfig } = providerOptions?.google ?? {};
  return (
    objectIn(thinkingConfig)?.includeThoughts === true ||
    typeof providerOptions?.openai?.reasoningSummary === 'string'
  );
}

function fitGoogleThinking(body: JsonObject, { budget }: Written): JsonObject {
  const config = objectIn(body.generationConfig);
  const thinking = objectIn(config?.thinkingConfig);
  const most = Math.floor(budget * MOST_OF_BUDGET);
  if (typeof thinking?.thinkingBudget !== 'number' || thinking.thinkingBudget <= most) return body;
  if (most < LEAST_GOOGLE_THINKING) return body;
  return {
    ...body,
    generationConfig: { ...config, thinkingConfig: { ...thinking, thinkingBudget: most } },
  };
}
