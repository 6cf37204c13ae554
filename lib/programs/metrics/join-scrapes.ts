/**
 * Joins scrapes in Prometheus' text format: each metric once, with the samples of all, whose labels must differ.
 */
export function joinScrapes(scrapes: readonly string[]): string {
  const metrics = new Map<string, { readonly head: readonly string[]; readonly samples: string[] }>();
  for (const scrape of scrapes) {
    let samples: string[] = [];
    let head: string[] = [];
    for (const line of scrape.split('\n')) {
      if (line.startsWith('# HELP ')) head = [line];
      else if (line.startsWith('# TYPE ')) {
        const name = line.split(' ', 3)[2] ?? '';
        const known = metrics.get(name) ?? { head: [...head, line], samples: [] };
        metrics.set(name, known);
        samples = known.samples;
      } else if (line !== '') samples.push(line);
    }
  }
  const blocks = [...metrics.values()].map(({ head, samples }) => [...head, ...samples].join('\n'));
  return `${blocks.join('\n\n')}\n`;
}
