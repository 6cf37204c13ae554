/** Other words that people look for a page of a workspace with, by its path. */
export const pageWords: Readonly<Record<string, string>> = {
  '': 'home dashboard',
  playground: 'try chat test prompt',
  models: 'prices pricing price compare',
  keys: 'new key token secret spend daily cap limit quota',
  'tag-budgets': 'spend cap customers tags',
  routing: 'policy fallback explain providers order alias',
  'own-keys': 'byok credentials',
  logs: 'calls requests receipt csv export',
  usage: 'spend cost charts csv export',
  alerts: 'webhook notifications email',
  billing: 'balance invoice receipt monthly budget spend automatic top-up',
  members: 'invite people team users roles',
  'management-keys': 'management api automation token',
  audit: 'changes history who',
  settings: 'time zone rate limits rename slug retention delete',
};

/** Other words that people look for a page of the operator area with, by its path. */
export const operatorWords: Readonly<Record<string, string>> = {
  workspaces: 'customers suspend credit promo limits',
  announcements: 'banner message',
  incidents: 'status outage',
  providers: 'credential api key test',
  models: 'price',
  'price-updates': 'prices',
  catalogue: 'yaml apply import',
  health: 'breaker errors latency',
  fleet: 'machines jobs',
  ledger: 'verify money',
  payments: 'stripe top-ups',
  charges: 'suspicious',
};
