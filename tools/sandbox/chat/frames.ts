import type { ChatAsk } from '#tools/sandbox/chat/ask';
import type { Choice, Composition } from '#tools/sandbox/chat/compose';
import { spokenName, spokenSound } from '#tools/sandbox/chat/spoken';
import { chatUsage } from '#tools/sandbox/chat/usage';
import { textTokens } from '#tools/sandbox/content/tokens';
import type { Frame } from '#tools/sandbox/dialect';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

/** The head that every chunk of one answer shares. */
export type ChunkHead = Readonly<Record<string, unknown>>;

/** A stream's events in the order of the chat family: role, content, finish, usage, [DONE]. */
export function* chatFrames(
  head: ChunkHead,
  ask: ChatAsk,
  { choices, truth }: Composition,
  behaviour: Behaviour,
): Generator<Frame> {
  const place = behaviour.usagePlace;
  const report = (output?: number) => chatUsage(ask, truth, behaviour.usage, output);
  let generated = 0;
  let shown = 0;

  const frame = (choice: object | null, extra: object, content: boolean, tokens: number): Frame => {
    generated += tokens;
    const every = place === 'every-chunk' && choice ? { usage: report(generated) } : {};
    const silent = ask.includeUsage && behaviour.usage !== 'none' ? { usage: null } : {};
    const padding =
      behaviour.paddingBytes > 0
        ? { obfuscation: 'x'.repeat(behaviour.paddingBytes) }
        : ask.obfuscate
          ? { obfuscation: 'x7Kp2mQ9vL4sT8'.slice(0, 1 + (shown++ % 14)) }
          : {};
    const body: ChunkHead = {
      ...head,
      choices: choice ? [choice] : [],
      ...silent,
      ...every,
      ...extra,
      ...padding,
    };
    return { name: null, data: JSON.stringify(body), content, tokens, usage: body.usage ?? undefined };
  };

  for (const [index, choice] of choices.entries()) {
    const named = choice.tool ? textTokens(choice.tool.name) : 0;
    yield frame(part(index, opening(head, choice, index), null), {}, false, choice.reasoning + named);
  }
  for (const [index, choice, piece] of woven(choices)) {
    const delta = choice.tool
      ? { tool_calls: [{ index: 0, function: { arguments: piece } }] }
      : choice.spoken
        ? { audio: { ...spokenName(head, index), transcript: piece, data: spokenSound(piece) } }
        : { content: piece };
    yield frame(part(index, delta, null), {}, true, 1);
  }
  for (const [index, choice] of choices.entries()) {
    const last = index === choices.length - 1;
    const usage = report();
    const extra =
      last && place === 'finish-chunk'
        ? { usage }
        : last && place === 'x-groq'
          ? { x_groq: { id: head.id, usage } }
          : {};
    const finish = frame(part(index, {}, choice.finish), extra, false, 0);
    yield 'x_groq' in extra ? { ...finish, usage } : finish;
  }
  if (ask.includeUsage && behaviour.usage !== 'none' && (place === 'own-chunk' || place === 'twice')) {
    if (place === 'twice') yield frame(null, { usage: report(Math.floor(truth.outputTokens / 2)) }, false, 0);
    yield frame(null, { usage: report() }, false, 0);
  }
  if (behaviour.extra === 'moderation') yield frame(null, { moderation: { flagged: false } }, false, 0);
  yield done;
  if (behaviour.extra === 'done-twice') yield done;
}

const done: Frame = { name: null, data: '[DONE]', content: false, tokens: 0 };

function part(index: number, delta: object, finish: string | null): object {
  return { index, delta, logprobs: null, finish_reason: finish };
}

function opening(head: ChunkHead, { tool, spoken }: Choice, index: number): object {
  if (spoken) return { role: 'assistant', content: null, refusal: null, audio: spokenName(head, index) };
  if (!tool) return { role: 'assistant', content: '', refusal: null };
  const call = { index: 0, id: tool.id, type: 'function', function: { name: tool.name, arguments: '' } };
  return { role: 'assistant', content: null, tool_calls: [call], refusal: null };
}

/** The pieces of all choices, one of each in turn, as a provider generates them side by side. */
function* woven(choices: readonly Choice[]): Generator<[number, Choice, string]> {
  let running = [...choices.entries()].map(([index, choice]) => ({
    index,
    choice,
    source: choice.pieces[Symbol.iterator](),
  }));
  while (running.length > 0) {
    const left: typeof running = [];
    for (const entry of running) {
      const next = entry.source.next();
      if (next.done) continue;
      yield [entry.index, entry.choice, next.value];
      left.push(entry);
    }
    running = left;
  }
}
