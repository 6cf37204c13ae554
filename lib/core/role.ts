/** What an operation needs. The verb after the colon: read it, or change it. */
export type Permission =
  | 'workspace:read'
  | 'workspace:write'
  | 'workspace:delete'
  | 'keys:read'
  | 'keys:write'
  | 'own-keys:read'
  | 'own-keys:write'
  | 'playground:use'
  | 'policies:read'
  | 'policies:write'
  | 'logs:read'
  | 'content:read'
  | 'feedback:write'
  | 'views:write'
  | 'billing:read'
  | 'billing:write'
  | 'members:read'
  | 'members:write'
  | 'management-keys:read'
  | 'management-keys:write'
  | 'owners:write'
  | 'gateway:read'
  | 'gateway:write';

export const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
export type Role = (typeof roles)[number];

/**
 * Beside the roles of members: the operator may do everything in every workspace (contract: control-plane/roles), and an
 * API key may only write feedback on its own calls (contract: call-log/feedback-by).
 */
export type ActingRole = Role | 'operator' | 'api-key';

const readers = [
  'workspace:read',
  'keys:read',
  'own-keys:read',
  'policies:read',
  'logs:read',
  'members:read',
] as const;
const developers = [
  ...readers,
  'content:read',
  'feedback:write',
  'views:write',
  'keys:write',
  'playground:use',
  'policies:write',
] as const;
const admins = [
  ...developers,
  'billing:read',
  'billing:write',
  'workspace:write',
  'own-keys:write',
  'members:write',
  'management-keys:read',
  'management-keys:write',
] as const;

const permissions: Record<Role, readonly Permission[]> = {
  owner: [...admins, 'owners:write', 'workspace:delete'],
  admin: admins,
  developer: developers,
  billing: [...readers, 'billing:read', 'billing:write'],
  viewer: readers,
};

/** Reads a stored role; null for an unknown word. */
export function roleOf(stored: string): Role | null {
  return roles.find((role) => role === stored) ?? null;
}

/** Whether the role carries the permission. */
export function may(role: ActingRole, permission: Permission): boolean {
  if (role === 'api-key') return permission === 'feedback:write';
  return role === 'operator' || permissions[role].includes(permission);
}

/** Whether users with `role` may assign the role `given`: it has no permission that they lack. */
export function mayGive(role: ActingRole, given: Role): boolean {
  return permissions[given].every((permission) => may(role, permission));
}

/** The roles that carry a permission, for a sentence that says whom to ask: "owner, admin or developer". */
export function rolesThatMay(permission: Permission): string {
  const names = roles.filter((role) => may(role, permission));
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : (names[0] ?? 'operator');
}
