import { z } from 'zod';
import { change } from '#lib/control/operations/declare';
import { removeDemo } from '#lib/control/operations/demo/remove';

/** Filling takes this machine some seconds and many transactions, so it is a command (lib/programs/command/demo.ts). */
export const removeDemoData = change({
  name: 'demo.remove',
  summary: 'Deletes the demo workspace with all its made-up calls and money, and nothing else.',
  reach: 'gateway',
  permission: 'gateway:write',
  output: z.object({ slug: z.string().nullable(), calls: z.int() }),
  line: {},
  text: ({ slug, calls }) =>
    slug === null ? 'there is no demo data' : `workspace ${slug} and its ${calls} calls deleted`,
  transaction: { waitMs: 10_000, limitMs: 120_000 },
  run: async ({ store }) => {
    const removed = await removeDemo(store);
    if (removed === null) {
      const nothing = { slug: null, calls: 0 };
      return { result: nothing, subject: '', before: {}, after: {} };
    }
    const { workspaceId, slug, calls, changes } = removed;
    return {
      result: { slug, calls },
      subject: workspaceId,
      before: { slug, calls },
      after: null,
      changes,
    };
  },
});

export const demoOperations = [removeDemoData];
