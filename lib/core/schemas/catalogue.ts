import { z } from 'zod';
import { abilities } from '#lib/core/facts/abilities';
import {
  credentialName,
  defaultCredential,
  mostCredentials,
  priorities,
  weights,
} from '#lib/core/facts/pool';
import { storeFamilies, storeNames } from '#lib/core/facts/stores';
import { familyIds } from '#lib/core/families/ids';
import { offeredOperations } from '#lib/core/families/served';
import { filePriceShape } from '#lib/core/schemas/price';
import { simulatedAddress, simulatedProvider } from '#lib/core/simulated';

/** What a model reads, and what it makes. */
export const inputKinds = ['text', 'image', 'audio', 'video', 'pdf', 'file'] as const;
export const outputKinds = [...inputKinds, 'embedding', 'scores'] as const;
const MOST = 2_147_483_647;

const providerId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'is not a provider id: use lower-case letters, digits, ".", "_", "-"',
  );
/** A model's slug in bytes, which are all ASCII. What is longer names no model, and no index would take it. */
export const LONGEST_SLUG = 200;
/** A slug may contain slashes; it is part of paths, so it has no empty or dot segments. */
const modelId = z
  .string()
  .max(LONGEST_SLUG)
  .regex(
    /^(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9][A-Za-z0-9._:-]*(\/[A-Za-z0-9._:-]+)*$/,
    'is not a model id: use letters, digits, ".", "_", ":", "-", parts joined by "/"',
  );
const envName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of an environment variable, like OPENAI_API_KEY');
const envReference = z.strictObject({ env: envName });

/** The versioned root of a provider's family: the operation's path is appended to it. */
export const address = z.string().refine(isAddress, {
  error: 'is not a usable address: write an http or https URL without credentials, query or fragment',
});

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
}

const family = z.enum(familyIds, { error: `is not a family: use one of ${familyIds.join(', ')}` });
const familyAddress = z.union([address, envReference], {
  error: 'is not a usable address: write an http or https URL without credentials or query, or { env: NAME }',
});
const families = z
  .partialRecord(family, familyAddress)
  .refine((map) => Object.keys(map).length > 0, 'names no family: give at least one with its address');

/** The kinds of `auth` of a provider. */
export const cloudKinds = ['google-service-account', 'entra-id', 'aws-sigv4'] as const;
export type CloudKind = (typeof cloudKinds)[number];

/** Headers in which providers take a credential; `authorization`: as bearer token. */
const credentialHeaderNames = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;
const credentialHeader = z.enum(credentialHeaderNames, {
  error: `is not a header for a credential: use one of ${credentialHeaderNames.join(', ')}`,
});
const day = z.iso.date('is not a date like 2027-01-31');

/** How credentials of a cloud become what is sent (contract: families/cloud-credentials). */
const auth = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('google-service-account') }),
    z.strictObject({
      kind: z.literal('entra-id'),
      /** Where tokens come from; default: Microsoft's public cloud. */
      authority: address.optional(),
      /** What tokens are for; default: Azure's AI services. */
      scope: z.string().min(1).max(300).optional(),
    }),
    z.strictObject({
      kind: z.literal('aws-sigv4'),
      /** Default: as the address names it. */
      region: z
        .string()
        .regex(/^[a-z]{2}(-[a-z]+)+-\d+$/, 'is not a region like us-east-1')
        .optional(),
      /** The service that signatures name; default: as the address names it. */
      service: z
        .string()
        .regex(/^[a-z][a-z0-9-]{0,40}$/, 'is not a service like bedrock')
        .optional(),
    }),
  ],
  { error: `has no known kind: use one of ${cloudKinds.join(', ')}` },
);
/** Addresses whose requests differ from their family's own (contract: families/variants). */
const variants = z.strictObject({
  messages: z
    .enum(['vertex', 'bedrock'], { error: 'is not a variant of messages: use vertex or bedrock' })
    .optional(),
});

const credential = z.union([envReference, z.strictObject({ value: z.string().min(1) }), z.literal('none')], {
  error: 'is neither { env: NAME } nor { value: … } nor none',
});

function within({ min, max }: { readonly min: number; readonly max: number }) {
  const error = `is not a whole number from ${min} to ${max}`;
  return z.int(error).min(min, error).max(max, error);
}

/** A credential of a provider's pool (contract: operations/catalogue-pool). */
const pooled = z
  .strictObject({
    name: z
      .string()
      .regex(
        credentialName,
        'is not a name of a credential: use at most 40 lower-case letters, digits, ".", "_" or "-"',
      ),
    credential: credential.optional(),
    weight: within(weights).describe('Its share of the calls among credentials of its priority.').default(1),
    priority: within(priorities).describe('The lowest is used first.').default(1),
    rpm: within({ min: 1, max: MOST }).describe('Its own limit of requests a minute.').optional(),
    tpm: within({ min: 1, max: MOST }).describe('Its own limit of tokens a minute.').optional(),
    models: z
      .array(modelId)
      .min(1, 'names no model: list those that it may serve, or leave it out if it may serve all')
      .optional(),
    withdrawn: z.boolean('is neither true nor false').default(false),
  })
  .refine((one) => one.name !== defaultCredential || one.credential === undefined, {
    path: ['credential'],
    error: `is that of ${defaultCredential}, which the provider itself has: give it beside id and name`,
  });

const provider = z
  .strictObject({
    id: providerId,
    name: z.string().min(1).max(100),
    families,
    credential: credential.optional(),
    /** The pool; left out: what is stored stays (contract: operations/catalogue-pool). */
    credentials: z
      .array(pooled)
      .max(mostCredentials, `has more than ${mostCredentials} credentials`)
      .optional(),
    /** Left out: what is stored stays. */
    acceptNewModels: z.boolean('is neither true nor false').optional(),
    /** Of families whose address takes the credential in another header than the family's own. */
    credentialHeaders: z.partialRecord(family, credentialHeader).default({}),
    auth: auth.optional(),
    variants: variants.default({}),
    onDisconnect: z.enum(['abort', 'drain']).default('drain'),
    /** What requests that name no model may have it store (contract: routing/no-model). */
    stores: z
      .array(
        z.enum(storeNames, { error: `is not something that providers store: use ${storeNames.join(', ')}` }),
      )
      .default([]),
    /** The page where it publishes its prices, for people. */
    pricesFrom: z
      .string()
      .max(500)
      .refine(
        isAddress,
        'is not the address of a web page: write an http or https URL without query or fragment',
      )
      .optional(),
  })
  .refine((one) => Object.keys(one.credentialHeaders).every((name) => name in one.families), {
    path: ['credentialHeaders'],
    error: 'names a family without an address: add it under families, or leave it out here',
  })
  .refine((one) => Object.keys(one.variants).every((name) => name in one.families), {
    path: ['variants'],
    error: 'names a family without an address: add it under families, or leave it out here',
  })
  .refine(({ stores, families }) => stores.every((name) => storeFamilies[name] in families), {
    path: ['stores'],
    error: `needs the address of the family in which it is called: ${storeNames.map((name) => `${name} ${storeFamilies[name]}`).join(', ')}`,
  })
  .refine(
    ({ credentials = [] }) => new Set(credentials.map(({ name }) => name)).size === credentials.length,
    {
      path: ['credentials'],
      error: 'has two credentials of the same name: keep one of them',
    },
  )
  .refine(({ id, families }) => id !== simulatedProvider || Object.values(families).every(isSimulated), {
    path: ['families'],
    error: `the provider "${simulatedProvider}" is the simulated one, which is paid with simulated money: its address is { env: ${simulatedAddress} }; give a real provider another id`,
  });

function isSimulated(address: z.output<typeof familyAddress>): boolean {
  return typeof address === 'object' && address.env === simulatedAddress;
}

/** What is known to work, or not; what is left out is not known (contract: routing/abilities). */
const abilitiesShape = z.partialRecord(
  z.enum(abilities, { error: `is not an ability: use ${abilities.join(', ')}` }),
  z.boolean('is neither true nor false'),
);

const offer = z
  .strictObject({
    provider: providerId,
    upstreamModel: z.string().min(1).max(300),
    families: z.array(family).min(1, 'names no family: list those in which the provider serves this model'),
    price: filePriceShape.optional(),
    /** The day on which its provider stops serving it (contract: routing/retired). */
    retires: day.optional(),
    outputBudgetField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    streamUsage: z.literal('never').optional(),
    streamEnd: z.literal('none').optional(),
    denyBetas: z.array(z.string().min(1)).default([]),
    abilities: abilitiesShape.default({}),
    /** Of the families of which it names one, only these; of others, all. */
    operations: z.array(z.string()).max(50).default([]),
  })
  .refine((one) => one.operations.every((name) => offeredOperations(one.families).includes(name)), {
    path: ['operations'],
    error: ({ input }) => unknownOperation(input),
  });

function unknownOperation(given: unknown): string {
  const read = z.object({ families: z.array(family) }).safeParse(given);
  const known = offeredOperations(read.data?.families ?? familyIds);
  return `names an operation that its families do not have: use ${known.join(', ')}`;
}

const tokens = z.int('is not a whole number of tokens').min(0).max(MOST);

const model = z.strictObject({
  id: modelId,
  name: z.string().min(1).max(200),
  /** Further names that clients send; each names one model of the whole catalogue. */
  aliases: z.array(modelId).max(50).default([]),
  contextTokens: tokens,
  maxOutputTokens: tokens,
  input: z.array(z.enum(inputKinds)).min(1),
  output: z.array(z.enum(outputKinds)).min(1),
  /** Its output may hold thinking that the client does not see, but the provider charges. */
  reasoning: z.boolean('is neither true nor false').default(false),
  released: z
    .string()
    .regex(/^\d{4}-\d{2}(-\d{2})?$/, 'is not a date like 2026-07-02')
    .optional(),
  /** For each of its offers that does not have its own. */
  retires: day.optional(),
  /** For each of its offers that does not say otherwise. */
  abilities: abilitiesShape.default({}),
  offers: z.array(offer),
});

/** The catalogue file (contract: operations/catalogue-file): unknown keys are refused. */
export const catalogueShape = z.strictObject({
  providers: z.array(provider).default([]),
  models: z.array(model).default([]),
});

export type CatalogueFile = z.infer<typeof catalogueShape>;
export type FileProvider = CatalogueFile['providers'][number];
export type FileCredential = NonNullable<FileProvider['credential']>;
export type FilePooled = NonNullable<FileProvider['credentials']>[number];
export type FileModel = CatalogueFile['models'][number];
export type FileOffer = FileModel['offers'][number];

/** `provider.families` as stored: as in the file. */
export const storedFamiliesShape = z.partialRecord(family, z.union([z.string(), envReference]));
/**
 * `provider.credential` and `credential.secret` as stored: a variable's name, sealed under `credentialContext`, or that
 * the provider asks for none.
 */
export const storedCredentialShape = z.union([
  envReference,
  z.strictObject({ sealed: z.string() }),
  z.strictObject({ none: z.literal(true) }),
]);
export type StoredFamilies = z.infer<typeof storedFamiliesShape>;
export type CredentialHeaderName = z.infer<typeof credentialHeader>;
/** `provider.auth` and `provider.variants` as stored: as in the file. */
export const storedAuthShape = auth;
export const storedVariantsShape = variants;
export type Auth = z.output<typeof auth>;
export type Variants = z.output<typeof variants>;
/** `model.abilities` and `offer.abilities` as stored: as in the file. */
export const storedAbilitiesShape = abilitiesShape;
/** `provider.credential_headers` as stored: as in the file. */
export const storedCredentialHeadersShape = z.partialRecord(family, credentialHeader);
