/** Height of every chart and of its placeholder, px. */
export const chartHeight = 280;

const colours = 10;

/** The color of a group by its index, as a theme variable; gray for the rest. */
export function colourOf(index: number, rest = false): string {
  return rest ? 'var(--chart-rest)' : `var(--chart-${(index % colours) + 1})`;
}

/** A group's color, shown beside its name. */
export function Swatch({ colour }: { colour: string }) {
  return <span aria-hidden className="size-2.5 shrink-0 rounded-[3px]" style={{ background: colour }} />;
}
