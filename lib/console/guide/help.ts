import type { GuideSlug } from '#lib/console/guide/pages';

/** Where each page of the console is explained: a page of the guide, and a heading in it. */
export const helpPlaces = {
  overview: 'billing#usage-and-forecast',
  playground: 'quickstart#without-code',
  models: 'families#names-of-models',
  keys: 'authentication#what-a-key-may-do',
  logs: 'errors#handling',
  content: 'content#work-with-it',
  usage: 'billing#usage-and-forecast',
  'tag-usage': 'tags#seeing-them',
  'tag-budgets': 'tags#budgets',
  routing: 'routing#a-policy',
  'own-keys': 'routing#own-provider-keys',
  billing: 'billing#monthly-budget',
  ledger: 'billing#the-ledger',
  alerts: 'webhooks#types-of-events',
  members: 'authentication#members-and-roles',
  audit: 'authentication#members-and-roles',
  'management-keys': 'management-api#a-management-key',
  settings: 'limits#how-they-count',
  'operator-providers': 'self-hosting#providers',
  'operator-workspaces': 'self-hosting#people',
  'operator-models': 'billing#prices',
  'operator-price-updates': 'self-hosting#prices-that-stay-current',
  'operator-catalogue': 'self-hosting#providers',
  'operator-health': 'routing#health',
  'operator-fleet': 'deployment#what-processes-share',
  'operator-charges': 'billing#what-is-charged',
  'operator-ledger': 'billing#the-ledger',
  'operator-payments': 'self-hosting#payments-by-card',
  'operator-incidents': 'self-hosting#watching-it',
  'operator-announcements': 'self-hosting#watching-it',
} as const satisfies Readonly<Record<string, `${GuideSlug}#${string}`>>;

export type HelpTopic = keyof typeof helpPlaces;

/** The URL of the paragraph. */
export function helpHref(topic: HelpTopic): string {
  return `/docs/${helpPlaces[topic]}`;
}
