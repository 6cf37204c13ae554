import type { Operation } from '#lib/control/operations/declare';
import { may, type Permission, roles } from '#lib/core/role';

/** What each permission allows, in the console's words. */
const deeds: Readonly<Record<Permission, string>> = {
  'workspace:read': 'View the overview, funds, ledger and audit log',
  'logs:read': 'View calls and usage',
  'content:read': 'Read kept requests and answers',
  'feedback:write': 'Give feedback on answers',
  'views:write': 'Save views of logs and usage',
  'keys:read': 'View API keys',
  'keys:write': 'Create, change and revoke API keys',
  'own-keys:read': 'View own provider keys, but never their secrets',
  'own-keys:write': 'Add, change and delete own provider keys',
  'playground:use': 'Use the playground, paid from the workspace’s funds',
  'policies:read': 'View routing',
  'policies:write': 'Change routing',
  'billing:read': 'View payments and receipts',
  'billing:write': 'Add funds and set the budget',
  'members:read': 'View members and invitations',
  'members:write': 'Invite, change and remove members',
  'management-keys:read': 'View management keys',
  'management-keys:write': 'Create and revoke management keys, up to their own role',
  'workspace:write': 'Change settings, limits and alerts',
  'owners:write': 'Add, change and remove owners',
  'workspace:delete': 'Delete the workspace',
  'gateway:read': 'View the whole gateway',
  'gateway:write': 'Operate the gateway',
};

/** A row of the matrix: what is allowed, and for which of `roles`, in their order. */
export interface RoleLine {
  readonly permission: Permission;
  readonly deed: string;
  readonly allowed: readonly boolean[];
  /** A sentence for each operation. */
  readonly operations: readonly string[];
}

/** Checked inside an operation instead of declared by one: who may make owners. */
const withinOperations: readonly Permission[] = ['owners:write'];

/**
 * Who may do what in a workspace, from the declarations of operations: those that need a permission, grouped
 * by it, in the order of the words above.
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
