import type { z } from 'zod';
import { catalogueYaml, exportCatalogue } from '#lib/control/catalogue/export';
import { readStored } from '#lib/control/catalogue/stored';
import { read } from '#lib/control/operations/declare';
import { catalogueShape } from '#lib/core/schemas/catalogue';

export const exportCatalogueOperation = read({
  name: 'catalogue.export',
  summary: 'Writes the catalogue in force as a file that "catalogue apply" takes, without secrets.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: catalogueShape as z.ZodType<z.output<typeof catalogueShape>>,
  http: [{ method: 'GET', path: '/catalogue' }],
  line: {},
  text: (file) => catalogueYaml(file).trimEnd(),
  // Without a key: credentials by value stay closed.
  run: async ({ store }) => exportCatalogue(await readStored(store.prisma, null)),
});
