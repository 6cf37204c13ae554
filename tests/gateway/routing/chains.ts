import { joinCatalogues } from '#lib/control/catalogue/files';
import type { CallDetail } from '#lib/control/operations/call/detail';
import type { Abilities } from '#lib/core/facts/abilities';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { readDocument } from '#lib/core/schemas/document';
import type { Asked } from '#tests/support/chat-call';
import { type PolicyGiven, setPolicy } from '#tests/support/control/operate';
import { applySet } from '#tests/support/provider/apply-set';
import type { Stack } from '#tests/support/stack';

/** Where an offer of a test model leads: a name of the simulated provider, or a port that nobody listens on. */
export type Link =
  | string
  | { readonly refused: true }
  | { readonly at: string; readonly name: string }
  | { readonly retires: string; readonly name: string }
  | { readonly abilities: Abilities; readonly name: string };
export const refused: Link = { refused: true };

/** Every offer costs the same: what a call is charged tells the answering offer's usage. */
const price = { input: '1', cachedInput: '0.25', output: '4' };
const places = ['first', 'second', 'third', 'fourth'] as const;

/**
 * Adds models whose offers, in order, lead to `links`. Each offer stands at a provider of its own name
 * ("first" … "fourth", "refused-first" …), so that an answer tells who gave it.
 */
export async function addChains(
  stack: Pick<Stack, 'db'> & { announce(): Promise<unknown> },
  chains: Readonly<Record<string, readonly Link[]>>,
): Promise<void> {
  const providers = new Map<string, object>();
  const models = Object.entries(chains).map(([id, links]) => ({
    id,
    name: id,
    contextTokens: 1_000_000,
    maxOutputTokens: 65_536,
    input: ['text'],
    output: ['text'],
    offers: links.map((link, at) => {
      const { provider, upstreamModel } = placeOf(link, at, id);
      providers.set(provider.id, provider);
      const retires = typeof link === 'object' && 'retires' in link ? { retires: link.retires } : {};
      const abilities = typeof link === 'object' && 'abilities' in link ? { abilities: link.abilities } : {};
      return { provider: provider.id, upstreamModel, families: ['chat'], price, ...retires, ...abilities };
    }),
  }));
  const text = JSON.stringify({ providers: [...providers.values()], models });
  const file = joinCatalogues([readDocument('chains.json', text, catalogueShape)]);
  await applySet(stack.db, file);
  await stack.announce();
}

function placeOf(link: Link, at: number, model: string) {
  const place = places[at] ?? 'later';
  const credential = { env: 'SANDBOX_KEY' };
  const own = model.replaceAll('/', '-');
  const made = (id: string, chat: unknown, upstreamModel: string) => ({
    provider: { id, name: id, families: { chat }, credential, onDisconnect: 'abort' },
    upstreamModel,
  });
  if (typeof link === 'string') return made(`${place}-${own}`, { env: 'SANDBOX_URL' }, link);
  if ('retires' in link || 'abilities' in link)
    return made(`${place}-${own}`, { env: 'SANDBOX_URL' }, link.name);
  return 'refused' in link
    ? made(`${place}-${own}`, 'http://127.0.0.1:1/v1', 'echo')
    : made(`${place}-${own}`, link.at, link.name);
}

/** The place in its chain of the provider that a call or attempt names. */
export function placeIn(provider: string | null | undefined): string | undefined {
  return provider?.split('-')[0];
}

export async function givePolicy(
  stack: Pick<Stack, 'db'> & { announce(): Promise<unknown> },
  workspace: string,
  policy: PolicyGiven['policy'],
  model = 'default',
): Promise<void> {
  await setPolicy(stack.db, { workspace, policy, model });
  await stack.announce();
}

/**
 * Checks that exactly the attempts of the call's log reached the provider, in order: those with an
 * answer joined by the provider's own request id.
 */
export async function findUnlogged(stack: Stack, asked: Asked, call: CallDetail): Promise<string[]> {
  const reached = call.attempts.filter((one) => one.error !== 'connection_refused');
  const seen = await stack.sandbox.seen(asked.mark);
  const faults = reached.length === seen.length ? [] : [`${reached.length} logged, ${seen.length} seen`];
  for (const [at, line] of seen.entries()) {
    const logged = reached[at];
    if (logged?.status != null && logged.upstreamRequestId !== line.id) {
      faults.push(`attempt ${at} is ${logged.upstreamRequestId} in the log, ${line.id} at the provider`);
    }
  }
  return faults;
}
