import { z } from 'zod';
import { parseUsd } from '#lib/core/money';

const mebibyte = 1024 * 1024;

const text = z.string().optional();

/** Entries between commas; none when unset. */
const list = z
  .string()
  .default('')
  .transform((value) => value.split(',').flatMap((entry) => entry.trim() || []));

/** As browsers name them; null and * are not origins. */
const origins = list.refine((all) => all.every(isOrigin), {
  message:
    'not a list of origins. Set schemes and hosts separated by commas, like https://app.example.com,http://localhost:5173.',
});

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.origin === text;
  // An application that shows its pages under its own scheme: tauri://localhost.
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+$/.test(text);
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `not a whole number. Set a number from ${least} to ${most}.`)
    .transform(Number)
    .refine(
      (value) => value >= least && value <= most,
      `out of range. Set a number from ${least} to ${most}.`,
    );

const integer = (least: number, most: number, otherwise: number) =>
  wholeNumber(least, most).default(otherwise);

const bytes = (otherwise: number) => integer(1024, 1024 ** 4, otherwise);

/** In hundredths of a per cent. */
const percent = z
  .string()
  .regex(/^\d{1,2}(\.\d{1,2})?$/, 'not a percentage. Set a number from 0 to 99.99, such as 2.5.')
  .transform((value) => Math.round(Number(value) * 100))
  .default(0);

/** The same up to the whole price. */
const feePercent = z
  .string()
  .regex(
    /^(100(\.0{1,2})?|\d{1,2}(\.\d{1,2})?)$/,
    'not a percentage. Set a number from 0 to 100, such as 2.5.',
  )
  .transform((value) => Math.round(Number(value) * 100))
  .default(0);

const url = (schemes: readonly string[]) =>
  z
    .string()
    .refine((value) => schemes.some((scheme) => value.startsWith(`${scheme}://`)) && URL.canParse(value), {
      message: `not an address. Set one that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    })
    .optional();

/**
 * The modes that the driver reads as `verify-full`, and warns that a later version will not, say so from the start.
 * With `uselibpqcompat` it reads them as other programs do.
 */
const database = url(['postgresql', 'postgres']).transform((address) =>
  address?.includes('uselibpqcompat')
    ? address
    : address?.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full'),
);

/** Where pages are: the console is only served at the root of its host. */
const origin = url(['https', 'http']).refine(
  (value) => value === undefined || /^https?:\/\/[^/?#]+\/?$/.test(value),
  'has a path. Set only the scheme and the host, like https://gateway.example.com: base paths are not supported.',
);

/** Secrets do not belong into it: messages name it. */
const store = url(['https', 'http']).refine(
  (value) => value === undefined || (!value.includes('@') && !value.includes('?')),
  'has a user or a query. Set only the address; credentials are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
);

/** The address of a proxy; one without a scheme is http, as other programs read it. */
const proxy = z
  .string()
  .transform((value) => (value.includes('://') ? value : `http://${value}`))
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), {
    message: 'not the address of a proxy. Set one like http://proxy.internal:3128',
  })
  .optional();

/** `s3://bucket/prefix`, as bucket and prefix; bucket names by the rules of S3, which other stores share. */
const bucket = z
  .string()
  .regex(
    /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9_.-]+)*\/?$/,
    'not a bucket. Set one like s3://my-bucket or s3://my-bucket/prefix: letters, digits and - _ . only.',
  )
  .transform((value) => {
    const [bucket = '', ...prefix] = value.slice('s3://'.length).replace(/\/$/, '').split('/');
    return { bucket, prefix: prefix.join('/') };
  })
  .optional();

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `unknown value. Set one of: ${values.join(', ')}.`);

const yes = ['on', 'true', '1', 'yes'] as const;
const no = ['off', 'false', '0', 'no'] as const;

/** Dollars as a decimal string, at most a million; in nano-dollars. */
const dollars = z
  .string()
  .refine(isAmount, 'not an amount. Set dollars from 0 to 1000000 as a decimal number, like 5 or 2.50.')
  .transform(parseUsd)
  .default(0n);

function isAmount(text: string): boolean {
  return /^\d{1,7}(\.\d{1,9})?$/.test(text) && parseUsd(text) <= 1_000_000n * 1_000_000_000n;
}

const toggle = z
  .string()
  .toLowerCase()
  .pipe(z.enum([...yes, ...no], 'unknown value. Set on or off.'))
  .transform((value) => yes.some((word) => word === value));

/** The settings by their names in the environment (contract: operations/settings); empty means unset. */
export const settingsSchema = z.object({
  PORT: integer(0, 65_535, 3000),
  HOST: text,
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: database,
  REDIS_URL: url(['redis', 'rediss']),
  UPSTASH_REDIS_REST_URL: url(['https', 'http']),
  UPSTASH_REDIS_REST_TOKEN: text,
  WORKERS: integer(1, 64, 1),
  SHUTDOWN_DELAY_SECONDS: integer(0, 600, 0),
  // As long as keys that a process knows work without it.
  DATABASE_AWAY_MINUTES: integer(0, 15, 0),
  DATABASE_AWAY_USD: dollars,
  PROXY_HOPS: integer(1, 5, 1),
  SIGN_OF_LIFE_SECONDS: integer(0, 3600, 15),
  SIGN_OF_LIFE_BEFORE_HEADERS: toggle.default(false),
  LANE: oneOf(['node', 'web']).default('node'),
  SETTLEMENT: oneOf(['journal', 'database']).optional(),
  NEXTAUTH_SECRET: text,
  NEXTAUTH_SECRET_OLD: list,
  ENCRYPTION_KEY: text,
  ENCRYPTION_KEY_OLD: list,
  KEY_PEPPER: text,
  NEXTAUTH_URL: origin,
  GITHUB_ID: text,
  GITHUB_SECRET: text,
  GOOGLE_ID: text,
  GOOGLE_SECRET: text,
  // GitHub Enterprise, another OpenID provider, or a stand-in for either.
  GITHUB_URL: url(['https', 'http']),
  GOOGLE_ISSUER: url(['https', 'http']),
  SMTP_URL: url(['smtps', 'smtp']),
  MAIL_FROM: z.string().max(320, 'too long. Set an address like gateway@example.com.').optional(),
  STRIPE_SECRET_KEY: text,
  STRIPE_WEBHOOK_SECRET: text,
  STRIPE_API_BASE: url(['https', 'http']),
  TOP_UP_FEE_PERCENT: percent,
  SANDBOX: toggle.optional(),
  CONTENT: toggle.optional(),
  CONTENT_STORE: bucket,
  CONTENT_STORE_ENDPOINT: store,
  CONTENT_STORE_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'not a region. Set one like eu-central-1.')
    .optional(),
  CONTENT_STORE_PATH_STYLE: toggle.optional(),
  OWN_KEYS: oneOf(['off', 'on', 'addresses']).default('off'),
  OWN_KEY_FEE_PERCENT: feePercent,
  HTTPS_PROXY: proxy,
  HTTP_PROXY: proxy,
  NO_PROXY: text,
  PLAY_MONEY: toggle.optional(),
  METRICS_TOKEN: text,
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  MAX_BODY_BYTES: bytes(32 * mebibyte),
  MAX_UPLOAD_BYTES: bytes(256 * mebibyte),
  BODY_BUDGET_BYTES: bytes(256 * mebibyte),
  MAX_WORKSPACE_FILES: integer(1, 1_000_000, 10_000),
  MAX_WORKSPACE_FILE_BYTES: bytes(10_000_000_000),
  // What providers keep can be referred to for 30 days, and settles a difference of its call until then.
  CALL_RETENTION_DAYS: integer(35, 36_500, 90),
  CONSOLE: toggle.optional(),
  ALLOW_SIGN_UP: toggle.optional(),
  STATUS_PAGE: toggle.optional(),
  CORS_ORIGINS: origins,
  SIGN_UP_CREDIT_USD: dollars,
  SIGN_UP_CREDIT_DAYS: wholeNumber(1, 3650).optional(),
  // By the OpenTelemetry specification; lib/platform/env/telemetry-settings.ts reads them.
  OTEL_EXPORTER_OTLP_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_HEADERS: text,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: text,
  OTEL_EXPORTER_OTLP_TIMEOUT: text,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: text,
  OTEL_EXPORTER_OTLP_COMPRESSION: text,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: text,
  OTEL_EXPORTER_OTLP_PROTOCOL: text,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: text,
  OTEL_TRACES_EXPORTER: text,
  OTEL_SDK_DISABLED: text,
  OTEL_SERVICE_NAME: text,
  OTEL_RESOURCE_ATTRIBUTES: text,
  TELEMETRY_BACKLOG_BYTES: bytes(1024 * mebibyte),
});

export type Settings = z.infer<typeof settingsSchema>;
