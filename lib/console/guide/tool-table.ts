/** What the table needs of a model in the catalogue files. */
interface CatalogueModel {
  readonly id: string;
  readonly output: readonly string[];
  readonly offers: readonly { readonly families: readonly string[] }[];
}

const tools = [
  { name: 'Claude Code', family: 'messages' },
  { name: 'Codex', family: 'responses' },
  { name: 'Gemini CLI', family: 'generate-content' },
  { name: 'aider, chat clients', family: 'chat' },
] as const;

/** A Markdown table: which vendors' text models have an offer that speaks a tool's protocol. Pure. */
export function toolTableInMarkdown(models: readonly CatalogueModel[]): string {
  const byVendor = new Map<string, CatalogueModel[]>();
  for (const model of models.filter(isForTools)) {
    const [vendor = '', name] = model.id.split('/');
    if (name !== undefined && vendor !== 'sandbox')
      byVendor.set(vendor, [...(byVendor.get(vendor) ?? []), model]);
  }
  const rows = [...byVendor]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([vendor, own]) => `| ${vendor} | ${tools.map(({ family }) => shareOf(own, family)).join(' | ')} |`);
  const head = `| Models of | ${tools.map(({ name }) => name).join(' | ')} |`;
  const protocols = `| *protocol* | ${tools.map(({ family }) => family).join(' | ')} |`;
  return [head, `|---|${'---|'.repeat(tools.length)}`, protocols, ...rows, ''].join('\n');
}

/** It writes text, and neither only transcribes nor only holds spoken conversations. */
function isForTools({ output, offers }: CatalogueModel): boolean {
  const isSpoken = offers.some(({ families }) =>
    families.some((family) => family === 'transcriptions' || family === 'realtime'),
  );
  return output.includes('text') && !isSpoken;
}

function shareOf(models: readonly CatalogueModel[], family: string): string {
  const speaking = models.filter(({ offers }) => offers.some(({ families }) => families.includes(family)));
  if (speaking.length === 0) return 'translated';
  return speaking.length === models.length ? 'native' : `native for ${speaking.length} of ${models.length}`;
}
