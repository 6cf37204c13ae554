import type { Operation } from '#lib/control/operations/declare';
import { may, type Permission, roles } from '#lib/core/role';

/** What each permission lets people do, in the console's words. */
const deeds: Readonly<Record<Permission, string>> = {
  'workspace:read': 'See the overview, funds, the ledger and the audit log',
  'logs:read': 'See calls and usage',
  'keys:read': 'See API keys',
  'keys:write': 'Create, change and revoke API keys',
  'playground:use': 'Use the playground, on the funds of the workspace',
  'policies:read': 'See routing',
  'policies:write': 'Change routing',
  'billing:read': 'See payments and receipts',
  'billing:write': 'Add funds',
  'members:read': 'See members and invitations',
  'members:write': 'Invite members, change and remove them',
  'management-keys:read': 'See management keys',
  'management-keys:write': 'Create and revoke management keys, at most of their own role',
  'workspace:write': 'Change settings, limits and alerts',
  'owners:write': 'Make, change and remove owners',
  'workspace:delete': 'Delete the workspace',
  'gateway:read': 'See the gateway as a whole',
  'gateway:write': 'Run the gateway',
};

/** A line of the matrix: what may be done, and by which of `roles`, in their order. */
export interface RoleLine {
  readonly permission: Permission;
  readonly deed: string;
  readonly allowed: readonly boolean[];
  /** What exactly: a sentence for each operation. */
  readonly operations: readonly string[];
}

/** Checked inside an operation rather than declared by one: who makes owners. */
const withinOperations: readonly Permission[] = ['owners:write'];

/**
 * Who may do what in a workspace, of the declarations themselves: those that need a permission, by the permission, in the
 * order of the words above.
 */
export function roleMatrix(operations: readonly Operation[]): RoleLine[] {
  const named = Object.entries(deeds) as [Permission, string][];
  return named.flatMap(([permission, deed]) => {
    const needing = operations.filter((one) => one.permission === permission && one.reach !== 'gateway');
    const allowed = roles.map((role) => may(role, permission));
    if (!allowed.includes(true) || (needing.length === 0 && !withinOperations.includes(permission)))
      return [];
    return [{ permission, deed, allowed, operations: needing.map(({ summary }) => summary) }];
  });
}
