import type { TextProtocol } from '#lib/core/translation/conversation';
import type { Fate, FateByTarget, FieldTable } from '#lib/core/translation/fates';

const protocols: readonly TextProtocol[] = ['chat', 'responses', 'messages', 'generate-content'];

interface Row {
  readonly paths: string[];
  readonly fate: string;
  readonly except: string;
}

/** What becomes of each field of a client's protocol, as Markdown. Neighbors with the same fate share a row. */
export function fieldTableInMarkdown(client: TextProtocol, table: FieldTable): string {
  const rows: Row[] = [];
  for (const [path, fate] of Object.entries(table)) {
    if (client === 'generate-content' && isSnakeCase(path)) continue;
    const cells = cellsOf(fate, client);
    const last = rows.at(-1);
    if (last && last.fate === cells.fate && last.except === cells.except) last.paths.push(path);
    else rows.push({ paths: [path], ...cells });
  }
  const lines = rows.map(({ paths, fate, except }) => {
    const fields = paths.map((path) => `\`${path}\``).join(', ');
    return `| ${fields} | ${fate} | ${except} |`;
  });
  return ['| Fields | Fate | Exceptions by target |', '|---|---|---|', ...lines, ''].join('\n');
}

/** The table of generate-content has each path in both spellings. */
function isSnakeCase(path: string): boolean {
  return /[a-z]_[a-z]/.test(path);
}

function cellsOf(fate: FateByTarget, client: TextProtocol): Pick<Row, 'fate' | 'except'> {
  if ('is' in fate) return { fate: inWords(fate), except: '' };
  const fates = protocols
    .filter((target) => target !== client)
    .map((target) => ({ target, words: inWords(fate[target] ?? fate.rest) }));
  const times = (words: string) => fates.filter((one) => one.words === words).length;
  const usual = fates.map(({ words }) => words).find((words) => times(words) > 1) ?? inWords(fate.rest);
  const others = fates.filter(({ words }) => words !== usual);
  return { fate: usual, except: others.map(({ target, words }) => `${target}: ${words}`).join('; ') };
}

function inWords(fate: Fate): string {
  switch (fate.is) {
    case 'carried':
      return fate.opaque ? 'carried with all that is in it' : 'carried';
    case 'approximated':
      return `approximated (${fate.how})`;
    case 'lost':
      return fate.harmless ? 'left out; some values are not a loss' : 'left out';
    case 'refused':
      return `${fate.harmless ? 'some values are refused' : 'refused'}: ${fate.why}`;
  }
}
