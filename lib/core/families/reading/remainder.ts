import { type Figures, figureIn } from '#lib/core/families/reading/figures';

/** Parts of a usage object that dialects count inside its two figures, or only in the total. */
export type Parts = Readonly<Record<'reasoning' | 'cached' | 'written' | 'audio' | 'toolUse', number>>;

const nothing: Parts = { reasoning: 0, cached: 0, written: 0, audio: 0, toolUse: 0 };
const names = ['reasoning', 'cached', 'written', 'audio', 'toolUse'] as const;

/**
 * The part of a total that exceeds input and output (contract: money/unexplained-total). A rest that
 * nothing explains is flagged; if a figure is missing, its side is estimated.
 * @param figures the three as they were reported.
 * @param hidden the dialect hides thinking from its output and reports no figure of it.
 * @returns tokens of each part that are not in the two figures.
 */
export function explained(
  told: Readonly<Record<'input' | 'output' | 'total', unknown>>,
  parts: Parts,
  figures: Figures,
  hidden = false,
): Parts {
  const total = figures.read(told.total);
  const input = figureIn(told.input);
  const output = figureIn(told.output);
  if (input === null || output === null) return nothing;
  const rest = total - input - output;
  if (rest <= 0) return nothing;
  const missing = (['input', 'output'] as const).filter((side) => (told[side] ?? null) === null);
  if (missing.length > 0) {
    figures.flag('usage_inconsistent');
    for (const side of missing) figures.lack(side);
    return nothing;
  }
  const beside = sumOf(rest, parts);
  if (beside) return beside;
  if (hidden && parts.reasoning === 0) return { ...nothing, reasoning: rest };
  figures.flag('usage_inconsistent');
  // What is more than the output cannot be a part of it.
  return parts.reasoning > output ? { ...nothing, reasoning: Math.min(parts.reasoning, rest) } : nothing;
}

/** The fewest parts that make up the rest exactly, reasoning before all others; null: none do. */
function sumOf(rest: number, parts: Parts): Parts | null {
  let found: Parts | null = null;
  let fewest = names.length + 1;
  for (let set = 1; set < 1 << names.length; set++) {
    const chosen = names.filter((name, at) => (set >> at) & 1 && parts[name] > 0);
    if (chosen.length >= fewest) continue;
    if (chosen.reduce((sum, name) => sum + parts[name], 0) !== rest) continue;
    found = { ...nothing, ...Object.fromEntries(chosen.map((name) => [name, parts[name]])) };
    fewest = chosen.length;
  }
  return found;
}
