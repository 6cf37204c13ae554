import type { NextConfig } from 'next';

/** Sent with everything Next answers; the Content-Security-Policy with its nonce comes from proxy.ts. */
const securityHeaders = [
  { key: 'X-Content-Type-Options', value: 'nosniff' },
  { key: 'X-Frame-Options', value: 'DENY' },
  { key: 'Referrer-Policy', value: 'strict-origin-when-cross-origin' },
  { key: 'Permissions-Policy', value: 'camera=(), microphone=(self), geolocation=()' },
  { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
];

/** Read by builds and `npm run dev`; a server takes the settings that its build wrote (lib/programs/process/pages). */
const config: NextConfig = {
  // docs/decisions/loading-and-fonts.md
  experimental: { preloadEntriesOnStart: false },
  // Streams must leave as they are written; a reverse proxy compresses pages better.
  compress: false,
  poweredByHeader: false,
  // SDK clients do not follow a 308 on POST.
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  // There are no pictures to resize, so nobody may ask for it.
  images: { unoptimized: true },
  // `npm run check` and `npm test` check the types of the whole project; the build need not do it again.
  typescript: { ignoreBuildErrors: true },
  // The guide is read while pages are served; a host that copies traced files alone must have it too.
  outputFileTracingIncludes: {
    '/**': ['./docs/guide/*.md', './CHANGELOG.md', './docs/contract/operations.md', './catalogue/*.yaml'],
  },
  serverExternalPackages: [
    '@aws-sdk/client-s3',
    '@aws-sdk/credential-providers',
    '@azure/msal-node',
    '@electric-sql/pglite',
    '@node-rs/argon2',
    '@prisma/adapter-pg',
    '@prisma/client',
    '@smithy/core',
    '@smithy/signature-v4',
    'google-auth-library',
    'ioredis',
    'nodemailer',
    'pg',
    'pino',
    'undici',
  ],
  headers: async () => [
    { source: '/((?!v1/|v1$|v1beta/|v1beta$|v1alpha/|v1alpha$).*)', headers: securityHeaders },
  ],
};

export default config;
