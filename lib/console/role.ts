/** What a member may do in a workspace. The verb after the colon: read it, or change it. */
export type Permission = 'workspace:read' | 'keys:read' | 'keys:write' | 'logs:read' | 'billing:write';

export const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
export type Role = (typeof roles)[number];

const readers = ['workspace:read', 'keys:read', 'logs:read'] as const;

const permissions: Record<Role, readonly Permission[]> = {
  owner: [...readers, 'keys:write', 'billing:write'],
  admin: [...readers, 'keys:write', 'billing:write'],
  developer: [...readers, 'keys:write'],
  billing: [...readers, 'billing:write'],
  viewer: readers,
};

/** Reads a stored role; an unknown word is no role at all. */
export function roleOf(stored: string): Role | null {
  return roles.find((role) => role === stored) ?? null;
}

/** Whether the role carries the permission. */
export function may(role: Role, permission: Permission): boolean {
  return permissions[role].includes(permission);
}

/** The roles that carry a permission, for a sentence that says whom to ask: "owner, admin or developer". */
export function rolesThatMay(permission: Permission): string {
  const names = roles.filter((role) => may(role, permission));
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : (names[0] ?? 'nobody');
}
