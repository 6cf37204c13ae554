import type { PlaygroundSeed } from '#lib/console/content/seed';

const place = 'playground-seed';

/** Keeps a question for the playground of this tab: what people wrote must not be in a URL. */
export function leaveSeed(seed: PlaygroundSeed): void {
  sessionStorage.setItem(place, JSON.stringify(seed));
}

/** Takes the question that was left, once; null: there is none. */
export function takeSeed(): PlaygroundSeed | null {
  const text = sessionStorage.getItem(place);
  sessionStorage.removeItem(place);
  // Only `leaveSeed` of this site writes there.
  return text === null ? null : (JSON.parse(text) as PlaygroundSeed);
}

/** The playground with the model and protocol of a question. */
export function playgroundHref(workspace: string, { model, family }: PlaygroundSeed): string {
  return `/${workspace}/playground?${new URLSearchParams({ model, protocol: family })}`;
}
