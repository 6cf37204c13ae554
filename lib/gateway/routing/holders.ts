import type { Keeper } from '#lib/core/facts/credential';

/** How long a provider keeps a prompt's prefix after its last use. */
const KEEP_MS = 300_000;
const MOST = 20_000;
/** A longer name cannot be that of a session, so it is not remembered. */
const MOST_NAME = 512;

/** A conversation as the client names it, with one model. */
interface Conversation {
  readonly workspaceId: string;
  readonly model: string;
  readonly name: string;
}

/**
 * Which provider, by which credential, holds the prompt cache of a conversation, per workspace and model: calls that name the same
 * conversation prefer it while the cache lives. In memory; the conversation not used for longest is dropped first.
 */
export class Holders {
  readonly #most: number;
  readonly #held = new Map<string, { readonly keeper: Keeper; readonly untilMs: number }>();

  constructor(most = MOST) {
    this.#most = most;
  }

  /** null: no holder is known. */
  find(conversation: Conversation, nowMs: number): Keeper | null {
    const found = this.#held.get(keyOf(conversation));
    return found !== undefined && found.untilMs > nowMs ? found.keeper : null;
  }

  /** It was read or written just now, in the account of that credential. */
  remember(conversation: Conversation, keeper: Keeper, nowMs: number): void {
    if (conversation.name.length > MOST_NAME) return;
    const key = keyOf(conversation);
    this.#held.delete(key);
    this.#held.set(key, { keeper, untilMs: nowMs + KEEP_MS });
    if (this.#held.size <= this.#most) return;
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#held.delete(oldest);
  }
}

function keyOf({ workspaceId, model, name }: Conversation): string {
  return `${workspaceId}\n${model}\n${name}`;
}
