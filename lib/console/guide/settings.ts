import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lexer, type Token, type Tokens } from 'marked';

const source = 'docs/contract/operations.md';

/** The table of the settings in the contract (contract: operations/settings), which has the only copy. */
export async function readSettings(): Promise<Token[]> {
  const text = await readFile(join(process.cwd(), source), 'utf8');
  const section = text.split('\n### settings\n')[1]?.split(/\n##/)[0] ?? '';
  const table = lexer(section).find((token): token is Tokens.Table => token.type === 'table');
  if (!table) throw new Error(`${source} has no table of settings`);
  return [table];
}
