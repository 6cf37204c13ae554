import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { type Answer, type Opened, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { findDirective, keptName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { pageOf } from '#tools/sandbox/wire/page';

/** A completion that the provider stores for its account. */
interface KeptCompletion {
  readonly id: string;
  readonly model: string;
  /** The name that decides about requests on it. */
  readonly asked: string;
  readonly completion: Readonly<Record<string, unknown>>;
  readonly messages: readonly object[];
  metadata: unknown;
}

const keptCompletions = new Collection<KeptCompletion>();
const path = /^\/chat\/completions(?:\/([^/]+)(\/messages)?)?$/;

/** Stores an answer whose request says `store: true`. */
export function keepCompletion(
  memory: ProviderMemory,
  { body }: ReceivedRequest,
  prompt: string,
  made: () => Readonly<Record<string, unknown>>,
): void {
  const asked = readJson(body);
  if (asked.store !== true) return;
  const completion = made();
  const id = String(completion.id);
  const model = String(asked.model);
  const messages = [asked.messages].flat().map((message, index) => {
    const { role, content, name } = record(message);
    const parts = Array.isArray(content);
    return {
      id: `${id}-${index}`,
      role,
      content: parts ? null : content,
      name: name ?? null,
      content_parts: parts ? content : null,
    };
  });
  const metadata = asked.metadata ?? {};
  const kept = { id, model, asked: findDirective(prompt) ?? model, completion, messages, metadata };
  keptCompletions.put(memory, id, kept);
}

export function handlesStoredChat(method: string, asked: string): boolean {
  const [found, id, messages] = path.exec(asked) ?? [];
  if (found === undefined) return false;
  if (id === undefined || messages !== undefined) return method === 'GET';
  return ['GET', 'POST', 'DELETE'].includes(method);
}

/** Lists, reads, changes or deletes what is stored. @throws ProviderFault 404 for an unknown id. */
export function openStoredChat(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const [, written, messages] = path.exec(seen.path) ?? [];
  if (written === undefined) {
    const all = keptCompletions.list(memory).map(viewOf);
    return { model: 'echo', stream: false, prompt: '', answer: () => pageOf(all, seen.query, 'asc') };
  }
  const id = decodeURIComponent(written);
  const kept = keptCompletions.find(memory, id);
  if (!kept) throw new ProviderFault(404, `Completion with id '${id}' not found.`);
  return {
    model: kept.model,
    asked: keptName(kept.asked, seen.method),
    stream: false,
    prompt: '',
    answer: () => (messages ? pageOf(kept.messages, seen.query, 'asc') : answered(seen, memory, kept)),
  };
}

function answered({ method, body }: ReceivedRequest, memory: ProviderMemory, kept: KeptCompletion): Answer {
  const { id } = kept;
  if (method === 'DELETE') {
    keptCompletions.remove(memory, id);
    return whole({ id, object: 'chat.completion.deleted', deleted: true });
  }
  if (method === 'POST') {
    const { metadata } = readJson(body);
    if (metadata !== null && typeof metadata !== 'object') {
      throw new ProviderFault(
        400,
        "Invalid type for 'metadata': expected an object.",
        'invalid_type',
        'metadata',
      );
    }
    kept.metadata = metadata ?? {};
  }
  return whole(viewOf(kept));
}

function viewOf({ completion, metadata }: KeptCompletion): object {
  return { ...completion, object: 'chat.completion', metadata };
}
