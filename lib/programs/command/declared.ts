import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findPayments } from '#lib/control/billing/payments/find';
import { findStandIn } from '#lib/control/billing/payments/stand-in';
import { readTexts } from '#lib/control/catalogue/files';
import { commandLine } from '#lib/control/operations/actor';
import type { LineBinding, Operation } from '#lib/control/operations/declare';
import { type Field, flagOf } from '#lib/control/operations/field/field';
import { ControlRefused } from '#lib/control/operations/refusal';
import { type ControlHost, runAny } from '#lib/control/operations/run';
import { acceptSecret } from '#lib/control/operations/secret/accept';
import { comparePrints, heldSecretsOf, problemOf } from '#lib/control/operations/secret/prints';
import { storeOf } from '#lib/control/operations/store';
import { fieldLines, tableLines } from '#lib/control/operations/text';
import { mostTableBytes } from '#lib/control/price-tables/pure/read-table';
import { messageOf } from '#lib/core/errors';
import { ownKeyRulesOf } from '#lib/core/facts/own-key-rules';
import { readDocument } from '#lib/core/schemas/document';
import { createAccess } from '#lib/gateway/clouds/access';
import { ObjectStore } from '#lib/gateway/content/objects/object-store';
import { readLimitUse } from '#lib/gateway/snapshot/announce';
import { loadCatalogue, readCatalogueWithin } from '#lib/gateway/snapshot/catalogue';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { publicUrl } from '#lib/platform/env/env';
import { type Command, CommandRefused, type Input, type Output } from '#lib/programs/command/command';
import type { Context } from '#lib/programs/command/context';
import { readHealth } from '#lib/programs/command/live/offers';

/** Commands of declared operations: usage, flags and `--json` follow from the declarations (contract: operations/json). */
export function commandsOf(operations: readonly Operation[]): readonly Command[] {
  return operations.filter((operation) => operation.line !== null).map(commandOf);
}

/** "management-key.create" → "management-key create". */
function commandOf(operation: Operation): Command {
  const name = operation.line?.command ?? operation.name.replace('.', ' ');
  const ordered = operation.line?.arguments ?? [];
  const takesWorkspace = operation.reach === 'workspace' && !ordered.includes('workspace');
  const flagged = Object.entries(operation.fields).filter(([field]) => !ordered.includes(field));
  const flags = new Map(flagged.map(([field, facts]) => [flagOf(field, facts), field]));
  const workspace = takesWorkspace || operation.line?.workspace === 'optional';
  return {
    name,
    summary: operation.summary,
    usage: [
      ...ordered.map((field) => placeholderOf(operation, field)),
      ...(takesWorkspace ? ['--workspace SLUG'] : workspace ? ['[--workspace SLUG]'] : []),
      ...flagged.map(([field, facts]) => usageOf(field, facts)),
    ].join(' '),
    help: flagged.map(([field, facts]) => [`--${flagOf(field, facts)}`, helpOf(facts)]),
    positionals: ordered.map((field) => placeholderOf(operation, field)),
    options: [...(workspace ? ['workspace'] : []), ...flags.keys()],
    switches: flagged.flatMap(([field, facts]) => (facts.kind === 'switch' ? flagOf(field, facts) : [])),
    required: [
      ...(takesWorkspace ? ['workspace'] : []),
      ...flagged.flatMap(([field, facts]) => (facts.required ? flagOf(field, facts) : [])),
    ],
    run: async (context, input) => {
      const given = await readInput(operation, ordered, flags, input);
      const asked = { actor: commandLine, ...given };
      const host = await hostOf(context);
      if (operation.kind !== 'read' && operation.name !== acceptSecret.name) await refuseOtherSecrets(host);
      const { output } = await runAny(host, operation, asked).catch((error: unknown) => {
        throw inFlags(error, operation, ordered);
      });
      return show(operation, output);
    },
  };
}

/** Host of operations in a command's process; it announces changes to the gateway processes. */
export async function hostOf(context: Context): Promise<ControlHost> {
  const db = await context.db();
  const env = context.env();
  const { keyPepper, dataDir } = env;
  const sources = context.catalogueSources();
  const pools = createPools(env.proxies);
  return {
    db,
    keyPepper,
    ownKeys: ownKeyRulesOf(env),
    payments: await findPayments(env.stripe ?? findStandIn(env), publicUrl(env, env.port)),
    pools,
    access: createAccess({
      clock: systemClock,
      pools,
      catalogue: () => ({ models: new Map(), providers: new Map() }),
      variable: (name) => sources.envSecret(name) ?? null,
      // The operation itself says why.
      warn: () => {},
    }),
    journalDir: join(dataDir, 'journal'),
    sealingKey: sources.sealingKey,
    objects: new ObjectStore(env.contentStore),
    heldSecrets: heldSecretsOf(env),
    catalogue: (within) =>
      within
        ? readCatalogueWithin((text) => within.query(text, []), sources)
        : loadCatalogue(db.pool, sources),
    health: () => readHealth(dataDir),
    limitUse: (keyId) => readLimitUse(dataDir, keyId),
    changed: () => context.announce(),
  };
}

/** With other secrets, what it creates would not work in gateway processes (contract: operations/secret-prints). */
async function refuseOtherSecrets({ db, heldSecrets = [] }: ControlHost): Promise<void> {
  const compared = await comparePrints(storeOf(db), heldSecrets);
  const problems = compared.flatMap((secret) => problemOf(secret) ?? []);
  if (problems.length > 0) throw new CommandRefused(problems.join('\n'));
}

async function readInput(
  { fields }: Operation,
  ordered: readonly string[],
  flags: ReadonlyMap<string, string>,
  { positionals, options }: Input,
): Promise<{ workspace: string | undefined; input: Record<string, unknown> }> {
  const texts = new Map(ordered.map((field, at) => [field, positionals[at] ?? '']));
  for (const [flag, text] of Object.entries(options)) texts.set(flags.get(flag) ?? flag, text);
  const input: Record<string, unknown> = {};
  for (const [name, text] of texts) {
    const field = fields[name];
    if (field) input[name] = await readValue(field, text);
  }
  return { workspace: texts.get('workspace'), input };
}

function readValue(field: Field, text: string): unknown {
  if (field.kind === 'document') return readFileOf(field, text);
  if (field.kind === 'origin' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return readOrigin(text);
  if (field.kind !== 'files') return field.fromText(text);
  return readTexts(text, field.leaveOut).catch((error: unknown) => {
    throw new CommandRefused(messageOf(error));
  });
}

/** What it contains decides whether it can be used; a size that nothing could use is not read. */
async function readOrigin(path: string): Promise<{ name: string; text: string }> {
  const found = await stat(path).catch(() => null);
  if (found === null)
    throw new CommandRefused(`${path} does not exist; give a file, or an address that begins with https://`);
  if (!found.isFile()) throw new CommandRefused(`${path} is not a file`);
  if (found.size > mostTableBytes)
    throw new CommandRefused(
      `${path} is larger than ${mostTableBytes / 1024 / 1024} MiB, so it was not read`,
    );
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) throw new CommandRefused(`${path} cannot be read by this user`);
  return { name: path, text };
}

/** @throws FileRefused, naming the invalid lines. */
async function readFileOf({ label, schema }: Field, path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text !== null) return readDocument(path, text, schema).value;
  throw new CommandRefused(`${path} cannot be read; give a ${label.toLowerCase()} file in JSON or YAML`);
}

/** Names the flag of a refused field, and says how to clear it if it can be cleared. */
function inFlags(error: unknown, { fields }: Operation, ordered: readonly string[]): unknown {
  if (!(error instanceof ControlRefused) || error.field === null) return error;
  const name = error.field.split('.')[0] ?? '';
  const field = fields[name];
  if (!field || ordered.includes(name)) return new CommandRefused(error.text);
  const none = field.empty?.toLowerCase() ?? 'none';
  const clear = field.clearable && error.code === 'invalid_body' ? `, or "none" for ${none}` : '';
  return new CommandRefused(`--${flagOf(name, field)}: ${error.text}${clear}`);
}

function show({ text, failed, line }: Operation, output: unknown): Output {
  const bad = failed?.(output) ?? null;
  return {
    json: output,
    text: text ? text(output) : plain(output, line ?? {}),
    ...(bad === null ? {} : { failed: bad }),
  };
}

/** A page as a table; anything else as one field per line, then its lists as tables. */
function plain(output: unknown, { columns, unset = {} }: Pick<LineBinding, 'columns' | 'unset'>): string {
  if (typeof output !== 'object' || output === null) return String(output);
  if ('data' in output && isTable(output.data)) {
    const next = 'next' in output && output.next !== null ? `\nmore: --after ${output.next}` : '';
    const rows = output.data.map((row) => named(row, unset));
    return table(rows, columns) + next;
  }
  const members = Object.entries(named(output, unset));
  const fields = members.filter(([, value]) => !isTable(value) || value.length === 0);
  const tables = members.flatMap(([name, value]) =>
    isTable(value) && value.length > 0
      ? `\n\n${name}\n${table(value, columns && shownOf(columns, value))}`
      : [],
  );
  return fieldLines(Object.fromEntries(fields)) + tables.join('');
}

/** With the text for null. */
function named(row: object, unset: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? (unset[name] ?? null) : value]),
  );
}

type Rows = readonly Readonly<Record<string, unknown>>[];

function isTable(value: unknown): value is Rows {
  return Array.isArray(value) && value.every((row) => typeof row === 'object' && row !== null);
}

/** The columns that exist in the rows. */
function shownOf(columns: readonly string[], [row]: Rows): readonly string[] {
  return columns.filter((name) => row !== undefined && name in row);
}

function table(rows: Rows, columns: readonly string[] = Object.keys(rows[0] ?? {})): string {
  const cells = rows.map((row) => columns.map((name) => row[name]));
  return tableLines(columns, cells, 'none');
}

function placeholderOf(operation: Operation, name: string): string {
  return name === 'workspace' ? 'SLUG' : (operation.fields[name]?.placeholder ?? name.toUpperCase());
}

function usageOf(name: string, field: Field): string {
  const usage = `--${flagOf(name, field)} ${field.placeholder ?? 'VALUE'}`;
  return field.required ? usage : `[${usage}]`;
}

function helpOf({ label, help, unit, clearable }: Field): string {
  const said = unit === undefined || label.toLowerCase().includes(unit);
  const words = said ? label : `${label} (${unit})`;
  return [
    `${words}.`,
    ...(help ? [/[.?]$/.test(help) ? help : `${help}.`] : []),
    ...(clearable ? ['"none" removes it.'] : []),
  ].join(' ');
}
