/** How long a provider keeps a prompt's prefix after its last use. */
const KEEP_MS = 300_000;
const MOST = 20_000;
/** A longer name is no session's: it is not remembered. */
const MOST_NAME = 512;

/** A conversation as the client names it, with one model. */
interface Conversation {
  readonly workspaceId: string;
  readonly model: string;
  readonly name: string;
}

/**
 * Which provider holds the prompt cache of a conversation, per workspace and model: calls that name the
 * same one prefer it while the cache lives.
 */
export interface Holders {
  /** The provider's id; null when none is known to hold it now. */
  find(conversation: Conversation, nowMs: number): string | null;
  /** This provider has just read or written it. */
  remember(conversation: Conversation, providerId: string, nowMs: number): void;
}

/** In memory, at most 20,000 conversations: the one not used for longest goes first. */
export function createHolders(most = MOST): Holders {
  const held = new Map<string, { readonly providerId: string; readonly untilMs: number }>();
  return {
    find: (conversation, nowMs) => {
      const found = held.get(keyOf(conversation));
      return found !== undefined && found.untilMs > nowMs ? found.providerId : null;
    },
    remember: (conversation, providerId, nowMs) => {
      if (conversation.name.length > MOST_NAME) return;
      const key = keyOf(conversation);
      held.delete(key);
      held.set(key, { providerId, untilMs: nowMs + KEEP_MS });
      if (held.size <= most) return;
      for (const oldest of held.keys()) {
        held.delete(oldest);
        return;
      }
    },
  };
}

function keyOf({ workspaceId, model, name }: Conversation): string {
  return `${workspaceId}\n${model}\n${name}`;
}
