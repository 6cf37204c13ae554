import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Permission } from '#lib/core/role';

/** Who may see a page or route of the console: a member with a permission, or one of these groups. */
export type Admits =
  | Permission
  | 'anybody'
  | 'signed in'
  | 'not signed in'
  | 'operator'
  | 'content of an active workspace';

/**
 * Every page and route under app except those of programs, which authorize by a key. The test replaces the
 * parts in brackets by what it has created.
 */
export const admitted: Readonly<Record<string, Admits>> = {
  '/': 'signed in',
  '/account': 'signed in',
  '/new': 'signed in',
  '/forgot-password': 'anybody',
  '/invite': 'anybody',
  '/reset': 'anybody',
  '/verify': 'anybody',
  '/welcome': 'anybody',
  '/sign-in': 'not signed in',
  '/sign-up': 'not signed in',
  '/docs': 'anybody',
  '/docs/[page]': 'anybody',
  '/docs/changelog': 'anybody',
  '/models': 'anybody',
  '/models/[...slug]': 'anybody',
  '/status': 'anybody',
  '/[workspace]': 'logs:read',
  '/[workspace]/alerts': 'workspace:read',
  '/[workspace]/audit': 'workspace:read',
  '/[workspace]/audit/csv': 'workspace:read',
  '/[workspace]/balance': 'workspace:read',
  '/[workspace]/billing': 'workspace:read',
  '/[workspace]/billing/ledger': 'workspace:read',
  '/[workspace]/billing/ledger/export': 'workspace:read',
  '/[workspace]/billing/statement/[month]': 'workspace:read',
  '/[workspace]/find': 'keys:read',
  '/[workspace]/keys': 'keys:read',
  '/[workspace]/keys/[key]': 'keys:read',
  '/[workspace]/keys/[key]/use': 'keys:read',
  '/[workspace]/logs': 'logs:read',
  '/[workspace]/logs/[call]': 'logs:read',
  '/[workspace]/logs/compare': 'logs:read',
  // The operator may not read what was kept, and a suspended workspace exports nothing.
  '/[workspace]/logs/content': 'content of an active workspace',
  '/[workspace]/logs/export': 'logs:read',
  '/[workspace]/logs/new': 'logs:read',
  '/[workspace]/logs/search': 'logs:read',
  '/[workspace]/management-keys': 'workspace:read',
  '/[workspace]/members': 'members:read',
  '/[workspace]/models': 'keys:read',
  '/[workspace]/models/[...slug]': 'logs:read',
  '/[workspace]/own-keys': 'own-keys:read',
  '/[workspace]/playground': 'logs:read',
  '/[workspace]/playground/calls/[call]': 'logs:read',
  '/[workspace]/routing': 'policies:read',
  '/[workspace]/settings': 'workspace:read',
  '/[workspace]/settings/use': 'workspace:read',
  '/[workspace]/tag-budgets': 'keys:read',
  '/[workspace]/usage': 'logs:read',
  '/[workspace]/usage/csv': 'logs:read',
  '/[workspace]/usage/tags': 'logs:read',
  '/[workspace]/usage/tags/csv': 'logs:read',
  '/operator': 'operator',
  '/operator/announcements': 'operator',
  '/operator/calls/[call]': 'operator',
  '/operator/catalogue': 'operator',
  '/operator/catalogue/export': 'operator',
  '/operator/charges': 'operator',
  '/operator/fleet': 'operator',
  '/operator/health': 'operator',
  '/operator/incidents': 'operator',
  '/operator/ledger': 'operator',
  '/operator/models': 'operator',
  '/operator/models/[...slug]': 'operator',
  '/operator/payments': 'operator',
  '/operator/price-updates': 'operator',
  '/operator/providers': 'operator',
  '/operator/providers/[provider]': 'operator',
  '/operator/providers/add': 'operator',
  '/operator/workspaces': 'operator',
  '/operator/workspaces/[slug]': 'operator',
};

/** Those that redirect the users whom they admit. */
export const leading: readonly string[] = ['/docs', '/operator', '/operator/calls/[call]'];

/** Routes with their own authorization: for programs, sign-in and Stripe. */
const ofPrograms = /^\/(api|v1|v1alpha|v1beta)(\/|$)/;

/** Every path that a page or a route in the source has. */
export function routesOfSource(): string[] {
  const app = fileURLToPath(new URL('../../../app', import.meta.url));
  return readdirSync(app, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(^|\/)(page\.tsx|route\.ts)$/.test(file))
    .map(
      (file) =>
        `/${file
          .split('/')
          .slice(0, -1)
          .filter((part) => !/^\(.*\)$/.test(part))
          .join('/')}`,
    )
    .filter((address) => !ofPrograms.test(address))
    .sort();
}
