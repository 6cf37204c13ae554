import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { presets } from '#lib/control/providers/presets';
import { cloudKinds } from '#lib/core/schemas/catalogue';

const shownPreset = z.object({
  id: z.string(),
  name: z.string(),
  kind: z
    .enum(['service', 'server', 'compatible'])
    .describe("A company's service, a server on one's own machines, or any compatible address."),
  url: z.string().nullable().describe('The usual address; null: it must be given.'),
  families: z.array(z.string()).describe('The protocols.'),
  credential: z.enum(['required', 'optional', 'none']),
  cloud: z
    .enum(cloudKinds)
    .nullable()
    .describe('What it takes besides API keys: identities of a cloud; null: nothing.'),
  note: z.string().nullable(),
  provider: z
    .string()
    .nullable()
    .describe('The provider that has its id already; null: there is none. Another one needs its own id.'),
});
export type ShownPreset = z.output<typeof shownPreset>;

export const listPresets = read({
  name: 'provider.presets',
  summary: 'Lists what providers can be made from: known services, servers and compatible addresses.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: z.object({ data: z.array(shownPreset) }),
  http: [{ method: 'GET', path: '/provider-presets' }],
  line: { columns: ['id', 'name', 'url', 'credential', 'provider'] },
  run: async ({ store }) => {
    const rows = await store.prisma.provider.findMany({
      where: { id: { in: presets.map(({ id }) => id) } },
      select: { id: true },
    });
    const known = new Set(rows.map(({ id }) => id));
    return {
      data: presets.map(({ id, name, kind, url, families, credential, auth, note = null }) => ({
        id,
        name,
        kind,
        url,
        families: Object.keys(families),
        credential,
        cloud: auth?.kind ?? null,
        note,
        provider: known.has(id) ? id : null,
      })),
    };
  },
});
