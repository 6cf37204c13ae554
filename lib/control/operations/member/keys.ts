import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { madeByPeople } from '#lib/control/operations/key/find';
import { findMember, lostManagementKeys } from '#lib/control/operations/member/change';
import { memberName, memberRole } from '#lib/control/operations/member/settings';
import { inScope } from '#lib/control/operations/scope';

/** Enough to read; the counts include the others. */
const shownAtMost = 100;

const stopping = z.object({ id: z.uuid(), name: z.string(), display: z.string() });

/** What a removal, or a lower role, stops (contract: control-plane/members). */
export const whatStops = read({
  name: 'member.keys',
  summary:
    'Lists the keys that stop if a member is removed or gets another role; the oldest 100 of each kind.',
  reach: 'workspace',
  permission: 'members:write',
  fields: {
    member: memberName,
    role: optional({ ...memberRole, help: 'The new role. Default: none, the member is removed.' }),
  },
  output: z.object({
    apiKeys: z.int().describe('Number of API keys that would stop.'),
    managementKeys: z.int().describe('Number of management keys that would be revoked.'),
    stopping: z.array(z.object({ ...stopping.shape, kind: z.enum(['api-key', 'management-key']) })),
  }),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/members/{member}/keys' }],
  line: {},
  run: async ({ store, scope }, { member, role = null }) => {
    const { id } = await findMember(store, scope, member);
    const where = { ...inScope(scope), ...madeByPeople, createdBy: id, status: { not: 'revoked' } };
    const gone = role === null;
    const [apiKeys, keys, lost] = await Promise.all([
      gone ? store.prisma.apiKey.count({ where }) : 0,
      gone ? store.prisma.apiKey.findMany({ where, orderBy: { id: 'asc' }, take: shownAtMost }) : [],
      lostManagementKeys(store, scope, id, role),
    ]);
    const shown = [
      ...lost.slice(0, shownAtMost).map((key) => ({ ...key, kind: 'management-key' as const })),
      ...keys.map((key) => ({ ...key, kind: 'api-key' as const })),
    ];
    return {
      apiKeys,
      managementKeys: lost.length,
      stopping: shown.map(({ id, name, kind, displayStart, displayEnd }) => ({
        id,
        name,
        kind,
        display: `${displayStart}…${displayEnd}`,
      })),
    };
  },
});
