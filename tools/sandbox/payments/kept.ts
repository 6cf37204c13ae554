import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Account } from '#tools/sandbox/payments/account';

const kinds = [
  'sessions',
  'intents',
  'charges',
  'customers',
  'methods',
  'refunds',
  'disputes',
  'invoices',
  'portals',
] as const;

/** Keeps an account on disk, so that its cards and payments survive a restart. */
export function keepIn(file: string, account: Account): { save(): void } {
  load(file, account);
  return {
    save: () => {
      const lists = kinds.map((kind) => [kind, [...account[kind].values()]]);
      writeFileSync(`${file}.new`, JSON.stringify({ ...Object.fromEntries(lists), events: account.events }), {
        mode: 0o600,
      });
      renameSync(`${file}.new`, file);
    },
  };
}

/** A file that is missing or cannot be read is an empty account: it is only simulated money. */
function load(file: string, account: Account): void {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    for (const kind of kinds) {
      const map: Map<string, { id: string }> = account[kind];
      for (const one of kept[kind]) map.set(one.id, one);
    }
    account.events.push(...kept.events);
  } catch {
    return;
  }
}
