import { defineConfig } from 'prisma-cli/config';

/** The address comes in at run time through the driver adapter; Prisma's own tools read it here. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost/gateway' },
});
