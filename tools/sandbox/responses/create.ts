import type { ProviderMemory } from '#tools/sandbox/content/memory';
import type { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import { type Answer, freeOfCharge, type Opened, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { getModel } from '#tools/sandbox/models';
import { type ResponsesAsk, readResponsesAsk } from '#tools/sandbox/responses/ask';
import { type Circumstances, composeResponse } from '#tools/sandbox/responses/compose';
import { type Conversation, extend, getConversation } from '#tools/sandbox/responses/conversations';
import { responseFrames } from '#tools/sandbox/responses/frames';
import { type KeptResponse, keptItems, keptResponses, opens, seal } from '#tools/sandbox/responses/kept';
import { responseUsage } from '#tools/sandbox/responses/usage';
import { headOf, itemView, statusOf, viewOf } from '#tools/sandbox/responses/view';
import { type JobCourse, jobCourse } from '#tools/sandbox/scenario/job';
import { findDirective, parseName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** Opens a request that creates a response. */
export function openCreate(seen: ReceivedRequest, cache: PrefixCache, memory: ProviderMemory): Opened {
  const ask = readAsk(seen, memory);
  if (ask.imageModel) getModel(parseName(ask.imageModel).base);
  const conversation = conversationOf(ask, memory);
  const previous = conversation ?? previousOf(ask, memory);
  return {
    model: ask.model,
    stream: ask.stream,
    prompt: ask.prompt,
    answer(base, behaviour) {
      const kept = keep(ask, { base, behaviour, cache }, previous, { memory, seen });
      if (conversation) extendBy(conversation, kept);
      return answerOf(kept, ask, seen.atMs);
    },
  };
}

/** Writes the user's messages and one sealed item that stands for all the rest. Nothing is stored. */
export function openCompact(seen: ReceivedRequest, cache: PrefixCache, memory: ProviderMemory): Opened {
  const ask = readAsk(seen, memory);
  const previous = previousOf(ask, memory);
  return {
    model: ask.model,
    stream: false,
    prompt: ask.prompt,
    answer(base, behaviour) {
      const suffix = seen.id.slice(4);
      const naming = { suffix, seal: (id: string) => seal(memory, id) };
      const { truth } = composeResponse({ ...ask, tools: [] }, { base, behaviour, cache }, previous, naming);
      const users = ask.items.map(({ item }) => item).filter(({ role }) => role === 'user');
      const id = `cmp_${suffix}`;
      const usage = responseUsage(truth, behaviour.usage);
      const body = {
        id: `resp_${suffix}`,
        object: 'response.compaction',
        created_at: Math.floor(seen.atMs / 1000),
        output: [
          ...users.map((item, index) => ({ ...item, id: item.id ?? `msg_${suffix}${index}` })),
          { id, type: 'compaction', encrypted_content: seal(memory, id) },
        ],
        ...(usage === undefined ? {} : { usage }),
      };
      return whole(body, usage, truth);
    },
  };
}

/** Counts the input of a request, free of charge. */
export function openCount(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const ask = readAsk(seen, memory);
  const tokens = ask.inputTokens + (previousOf(ask, memory)?.tokens ?? 0);
  return {
    model: ask.model,
    stream: false,
    prompt: ask.prompt,
    answer: () => whole({ object: 'response.input_tokens', input_tokens: tokens }),
  };
}

function readAsk({ body }: ReceivedRequest, memory: ProviderMemory): ResponsesAsk {
  return readResponsesAsk(body, {
    item: (id) => keptItems.find(memory, id),
    opens: (sealed) => opens(memory, sealed),
  });
}

function conversationOf({ conversationId }: ResponsesAsk, memory: ProviderMemory): Conversation | null {
  return conversationId === null ? null : getConversation(memory, conversationId);
}

/** What a response read and wrote belongs to its conversation. An endless answer is not added. */
function extendBy(conversation: Conversation, { inputItems, composition, transcript }: KeptResponse): void {
  const { inputTokens, outputTokens } = composition.truth;
  if (!Number.isFinite(outputTokens)) return;
  const written = composition.items.map((item) => ({ item: itemView(item), tokens: 0 }));
  const tokens = inputTokens + outputTokens - conversation.tokens;
  extend(conversation, { items: [...inputItems, ...written], transcript, tokens });
}

function previousOf({ previousId }: ResponsesAsk, memory: ProviderMemory): KeptResponse | null {
  if (previousId === null) return null;
  const previous = keptResponses.find(memory, previousId);
  if (previous) return previous;
  const message = `Previous response with id '${previousId}' not found.`;
  throw new ProviderFault(400, message, 'previous_response_not_found', 'previous_response_id');
}

function keep(
  ask: ResponsesAsk,
  circumstances: Circumstances,
  previous: Pick<KeptResponse, 'transcript' | 'tokens'> | null,
  { memory, seen }: { readonly memory: ProviderMemory; readonly seen: ReceivedRequest },
): KeptResponse {
  const suffix = seen.id.slice(4);
  const composition = composeResponse(ask, circumstances, previous, {
    suffix,
    seal: (id) => seal(memory, id),
  });
  const id = `resp_${suffix}`;
  const { truth } = composition;
  const kept: KeptResponse = {
    id,
    model: ask.model,
    asked: findDirective(ask.prompt) ?? ask.model,
    head: headOf(id, seen.atMs, ask.asked),
    composition,
    behaviour: circumstances.behaviour,
    course: ask.background
      ? courseOf(ask, truth.outputTokens * circumstances.behaviour.gapMs, seen.atMs)
      : null,
    streamed: ask.stream,
    inputItems: ask.items.map(({ item, tokens }, index) => ({
      item: { ...item, id: item.id ?? `in_${suffix}${index}` },
      tokens,
    })),
    transcript: `${previous?.transcript ?? ''}${ask.transcript}\n`,
    tokens: truth.inputTokens + truth.outputTokens,
    cancelledAtMs: null,
  };
  // An endless answer cannot be stored.
  if (!ask.store || !Number.isFinite(truth.outputTokens)) return kept;
  keptResponses.put(memory, id, kept);
  for (const item of composition.items) {
    const view = itemView(item);
    const tokens = item.kind === 'reasoning' ? item.tokens : 'choice' in item ? item.choice.tokens : 0;
    keptItems.put(memory, item.id, { item: view, tokens });
  }
  for (const one of kept.inputItems) keptItems.put(memory, String(one.item.id), one);
  return kept;
}

/** A stream in the background is over when its last event is sent, unless its name says otherwise. */
function courseOf(ask: ResponsesAsk, streamMs: number, startedAtMs: number): JobCourse {
  const name = parseName(findDirective(ask.prompt) ?? ask.model);
  const course = jobCourse(name, startedAtMs);
  return ask.stream && !name.params.has('job_ms') ? { ...course, lastsMs: streamMs } : course;
}

/** A background response has cost nothing when it is answered, unless it is streamed. */
function answerOf(kept: KeptResponse, ask: ResponsesAsk, nowMs: number): Answer {
  const { truth } = kept.composition;
  if (ask.stream) return { truth, content: { kind: 'stream', frames: responseFrames(kept, nowMs) } };
  const { body, usage } = viewOf(kept, statusOf(kept, nowMs));
  return whole(body, usage, ask.background ? freeOfCharge : truth);
}
