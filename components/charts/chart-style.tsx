/** Height of every chart, and of its placeholder while it loads, px. */
export const chartHeight = 280;

const colours = 10;

/** The colour of a group by its place, a variable of the theme; what has no group of its own is grey. */
export function colourOf(index: number, rest = false): string {
  return rest ? 'var(--chart-rest)' : `var(--chart-${(index % colours) + 1})`;
}

/** A group's colour beside its name. */
export function Swatch({ colour }: { colour: string }) {
  return <span aria-hidden className="size-2.5 shrink-0 rounded-[3px]" style={{ background: colour }} />;
}
