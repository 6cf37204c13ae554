import type { OfferFacts } from '#lib/core/facts/snapshot';
import { type Usage, usageOf } from '#lib/core/metering/usage';
import type { App } from '#tools/demo/cast';
import type { Dice } from '#tools/demo/dice';
import { type Trouble, usualFailing } from '#tools/demo/rhythm';

/** Time to the first byte, ms, and speed, tokens per second, of each provider. */
const speeds: Readonly<Record<string, readonly [firstByteMs: number, tokensPerSecond: number]>> = {
  anthropic: [760, 78],
  cerebras: [150, 900],
  deepinfra: [420, 70],
  deepseek: [900, 45],
  fireworks: [310, 150],
  google: [430, 165],
  groq: [190, 430],
  mistral: [360, 110],
  openai: [540, 92],
  together: [380, 120],
};
const usualSpeed = [500, 90] as const;

const troubleOf = (troubles: readonly Trouble[], provider: string, atMs: number) =>
  troubles.find((one) => one.provider === provider && atMs >= one.fromMs && atMs < one.toMs);

/** One attempt at an offer. @returns null: it answers; otherwise the status or failure after which the next is tried. */
export function failureOf(
  dice: Dice,
  { provider: { id } }: OfferFacts,
  troubles: readonly Trouble[],
  atMs: number,
): { readonly status: number | null; readonly error: string | null; readonly tookMs: number } | null {
  const trouble = troubleOf(troubles, id, atMs);
  if (!dice.chance(trouble?.failing ?? usualFailing[id] ?? 0.004)) return null;
  if (trouble) return { status: 503, error: null, tookMs: Math.round(dice.around(320, 0.6)) };
  const kind = dice.next();
  if (kind < 0.6) return { status: 429, error: null, tookMs: Math.round(dice.around(90, 0.4)) };
  if (kind < 0.85) return { status: 529, error: null, tookMs: Math.round(dice.around(180, 0.5)) };
  return { status: null, error: 'connection_reset', tookMs: Math.round(dice.around(600, 0.5)) };
}

/**
 * How long an offer takes for an answer of this many tokens, ms; without streaming, the first byte comes near
 * the end.
 */
export function durationOf(
  dice: Dice,
  offer: OfferFacts,
  {
    output,
    streamed,
    troubles,
    atMs,
  }: {
    readonly output: number;
    readonly streamed: boolean;
    readonly troubles: readonly Trouble[];
    readonly atMs: number;
  },
): { readonly firstByteMs: number; readonly latencyMs: number } {
  const [usualFirst, rate] = speeds[offer.provider.id] ?? usualSpeed;
  const slower = troubleOf(troubles, offer.provider.id, atMs)?.slower ?? 1;
  const first = dice.around(usualFirst, 0.35) * slower;
  const rest = (output / dice.around(rate, 0.2)) * 1000 * slower;
  const latencyMs = Math.round(first + rest);
  return { firstByteMs: streamed ? Math.round(first) : Math.max(1, latencyMs - 3), latencyMs };
}

/** The usage of one call of an application. */
export function usageFor(dice: Dice, app: App): Usage {
  const size = ([median, spread]: readonly [number, number], most: number) =>
    Math.max(1, Math.min(most, Math.round(dice.around(median, spread))));
  const input = size(app.input, 90_000);
  const output = app.imageTokens
    ? dice.pick([
        [app.imageTokens, 3],
        [app.imageTokens * 4, 1],
      ])
    : size(app.output, 8000);
  if (app.imageTokens) return usageOf({ input, output, imageOutput: output, images: 1 });
  const cachedInput = dice.chance(0.8) ? Math.floor(input * app.cached) : 0;
  const reasoning = Math.floor(output * (app.reasoning ?? 0) * (0.6 + 0.4 * dice.next()));
  return usageOf({ input: input - cachedInput, cachedInput, output, reasoning });
}
