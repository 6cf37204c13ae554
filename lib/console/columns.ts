/** The columns of a table that users can choose from. */
interface ColumnSet<Names extends Readonly<Record<string, string>>> {
  /** The name of the column that is always shown. */
  readonly fixed: string;
  /** The names of the others, in the order of the table. */
  readonly names: Names;
  /** Those that are shown by default. */
  readonly usual: readonly string[];
  /** The parameter of a URL with the columns. */
  readonly parameter: string;
}

/** The parameter of a URL with columns, those of a shared or saved view; a second table of a page has its own. */
const columnsParameter = 'columns';

/** Declares a table's columns. @param hidden columns that are not shown by default. */
function columnSet<Names extends Readonly<Record<string, string>>>(
  fixed: string,
  names: Names,
  hidden: readonly (keyof Names)[],
  parameter = columnsParameter,
): ColumnSet<Names> {
  return { fixed, names, usual: Object.keys(names).filter((column) => !hidden.includes(column)), parameter };
}

/** Every table whose columns can be chosen (contract: control-plane/chosen-columns). */
export const columnSets = {
  log: columnSet(
    'Time',
    {
      status: 'Status',
      model: 'Model and provider',
      operation: 'Operation',
      tokens: 'Tokens',
      speed: 'Output speed',
      cost: 'Cost',
      latency: 'Latency',
      key: 'Key and request id',
      clientId: 'Client request id',
      feedback: 'Feedback',
      tags: 'Tags and end user',
    },
    ['operation', 'speed', 'clientId', 'feedback', 'tags'],
  ),
  keys: columnSet(
    'Name',
    {
      status: 'Status',
      limits: 'Models and limits',
      spend: 'Spend, 30 days',
      total: 'Spend, total',
      lastUsed: 'Last used',
      creator: 'Created by',
      created: 'Created',
      expires: 'Expires',
    },
    ['total', 'creator', 'expires'],
  ),
  models: columnSet(
    'Model',
    {
      context: 'Context',
      maxOutput: 'Max output',
      input: 'Input / 1M',
      output: 'Output / 1M',
      types: 'Input → output',
      protocols: 'Protocols',
      capabilities: 'Supports',
      providers: 'Offered by',
      released: 'Released',
    },
    ['protocols', 'capabilities'],
  ),
  usage: columnSet(
    'Group',
    {
      share: 'Share',
      calls: 'Calls',
      errors: 'Errors',
      inputTokens: 'Input tokens',
      outputTokens: 'Output tokens',
      cost: 'Cost',
      good: 'Good answers',
      cacheHits: 'From the cache',
      saved: 'Saved',
    },
    ['errors', 'inputTokens', 'outputTokens', 'good', 'cacheHits', 'saved'],
  ),
  tagUsage: columnSet(
    'Value',
    {
      cost: 'Spend',
      share: 'Share',
      calls: 'Calls',
      errors: 'Errors',
      refused: 'Refused',
      inputTokens: 'Input tokens',
      outputTokens: 'Output tokens',
    },
    ['errors'],
  ),
  tagBudgets: columnSet(
    'For',
    {
      state: 'Now',
      dailyCap: 'Per day',
      d7Cap: 'Any 7 days',
      d30Cap: 'Any 30 days',
      rates: 'A minute',
      spend: 'Spend, 30 days',
      created: 'Created',
    },
    ['spend', 'created'],
  ),
  members: columnSet('Member', { role: 'Role', spend: 'Spend this month', since: 'Since', id: 'User id' }, [
    'id',
  ]),
  invitations: columnSet(
    'Address',
    { role: 'Role', sent: 'Sent', ends: 'Expires', id: 'Invitation id' },
    ['id'],
    'invitedColumns',
  ),
  ledger: columnSet(
    'When',
    { line: 'Line', amount: 'Amount', balance: 'Balance', simulated: 'Simulated money', ref: 'Reference' },
    ['simulated', 'ref'],
  ),
  topUps: columnSet(
    'Created',
    {
      status: 'Status',
      amount: 'Amount',
      fee: 'Fee',
      refunded: 'Refunded',
      paid: 'Paid',
      id: 'Top-up id',
    },
    ['paid', 'id'],
  ),
  audit: columnSet(
    'Time',
    { change: 'Change', address: 'From', action: 'Action', subject: 'Subject', actor: 'Actor' },
    ['action', 'subject', 'actor'],
  ),
  managementKeys: columnSet(
    'Name',
    {
      role: 'Role',
      status: 'Status',
      lastUsed: 'Last used',
      creator: 'Created by',
      created: 'Created',
      id: 'Key id',
    },
    ['id'],
  ),
  ownKeys: columnSet('Name', { used: 'Used', models: 'Models', state: 'State', id: 'Key id' }, ['id']),
  deliveries: columnSet(
    'Event',
    {
      state: 'State',
      tries: 'Tries',
      answer: 'Last response',
      queued: 'Queued',
      delivered: 'Delivered',
      id: 'Delivery id',
    },
    ['delivered', 'id'],
    'deliveriesColumns',
  ),
  providers: columnSet(
    'Provider',
    { credentials: 'Credentials', protocols: 'Protocols', offers: 'Offers' },
    [],
  ),
  providerModels: columnSet(
    'Model',
    {
      upstream: 'Name at the provider',
      context: 'Context',
      price: 'Price, $ per million tokens',
      protocols: 'Protocols',
      state: 'State',
    },
    [],
  ),
  workspaces: columnSet(
    'Workspace',
    {
      state: 'State',
      balance: 'Balance',
      available: 'Available',
      held: 'Held',
      rpm: 'Requests/min',
      tpm: 'Tokens/min',
      concurrency: 'Concurrent',
      created: 'Created',
      credit: 'Credit limit',
      zone: 'Time zone',
      id: 'Workspace id',
    },
    ['credit', 'zone', 'id'],
  ),
  charges: columnSet(
    'Call',
    { workspace: 'Workspace', model: 'Model', flags: 'Flag', claimed: 'Reported', cost: 'Charged' },
    [],
  ),
  health: columnSet(
    'Offer',
    {
      breaker: 'Breaker',
      failing: 'Failing',
      firstByte: 'First byte',
      running: 'Running',
      errors: 'Last errors',
    },
    [],
  ),
  processes: columnSet(
    'Process',
    {
      state: 'State',
      version: 'Version',
      started: 'Started',
      leases: 'Leases',
      granted: 'May spend',
      held: 'Held',
      content: 'Content kept',
      lost: 'Content lost',
      id: 'Process id',
    },
    ['id', 'content'],
  ),
} as const;

export type TableName = keyof typeof columnSets;
export type ColumnOf<Name extends TableName> = keyof (typeof columnSets)[Name]['names'] & string;
export type CallColumn = ColumnOf<'log'>;

const none = 'none';

/** All columns of a table, in its order. */
export function columnsOf<Name extends TableName>(table: Name): readonly ColumnOf<Name>[] {
  return Object.keys(columnSets[table].names) as ColumnOf<Name>[];
}

/** The columns that a table shows. @param chosen null: the default ones. */
export function shownColumns<Name extends TableName>(
  table: Name,
  chosen: readonly string[] | null,
): readonly ColumnOf<Name>[] {
  const words: readonly string[] = chosen ?? columnSets[table].usual;
  return columnsOf(table).filter((column) => words.includes(column));
}

/**
 * The cookie with the chosen columns of a table: one choice per browser, because a phone has less room than a desktop.
 */
export function columnsCookie(table: TableName): string {
  return `${table}-columns`;
}

/**
 * The chosen columns in the table's order; null: none were chosen.
 * @param value of the cookie or the URL; untrusted.
 */
export function readColumns<Name extends TableName>(
  table: Name,
  value: string | undefined,
): readonly ColumnOf<Name>[] | null {
  const known = shownColumns(table, (value ?? '').split('.'));
  return known.length > 0 || value === none ? known : null;
}

/**
 * A choice of columns as the cookie and the URL have it. @param chosen as the page sent it; untrusted. @returns null:
 * the default columns.
 */
export function writeColumns(table: TableName, chosen: unknown): string | null {
  if (!Array.isArray(chosen)) return null;
  return (
    columnsOf(table)
      .filter((column) => chosen.includes(column))
      .join('.') || none
  );
}

/** Whether a text names a table, as a page sent it. */
export function isTableName(text: unknown): text is TableName {
  return typeof text === 'string' && Object.hasOwn(columnSets, text);
}
