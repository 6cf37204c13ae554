import { z } from 'zod';
import { optional } from '#lib/control/operations/field/field';
import { choice, id, models, pattern, words } from '#lib/control/operations/field/kinds';
import { providerField } from '#lib/control/operations/provider/credential';
import { ownUses } from '#lib/core/facts/credential';

export const ownKeyId = id({ label: 'Own key', help: 'Its id.' });

const useField = choice(
  {
    label: 'Use',
    help: '"first": before the gateway\'s own credentials. "only": its models are called by own keys only. "last": after the gateway\'s credentials.',
    example: 'first',
    choiceNames: {
      first: 'First, then the gateway’s credential',
      only: 'Only, never the gateway’s credential',
      last: 'Last, after the gateway’s credential',
    },
  },
  ownUses,
);

/** What can be changed later. */
export const ownKeySettings = {
  use: optional(useField),
  models: optional(
    models({
      label: 'Models',
      help: 'The models that it may serve; if not set, all that the provider offers.',
    }),
  ),
};

export const secretField = {
  ...pattern(
    {
      label: 'API key',
      help: 'The API key from the provider. It is tested, stored sealed and never shown again.',
      placeholder: 'SECRET',
      secret: true,
    },
    /^[\x21-\x7e]{8,8192}$/,
    'an API key is one line of 8 or more printable characters without spaces',
  ),
  kind: 'password' as const,
};

export const newOwnKey = {
  provider: providerField,
  name: pattern(
    { label: 'Name', help: 'How the workspace calls it.', placeholder: 'NAME', example: 'our-openai' },
    /^[a-z0-9][a-z0-9._-]{0,39}$/,
    'must have at most 40 lower-case letters, digits, ".", "_" or "-", and begin with a letter or digit',
  ),
  value: secretField,
  address: optional(
    words(
      {
        label: 'Own address',
        help: "The base URL to use instead of the provider's: https, on the public internet. Only if the operator allows it.",
        example: 'https://models.example.com/v1',
      },
      1000,
    ),
  ),
};

export const shownOwnKey = z.object({
  id: z.uuid(),
  name: z.string(),
  provider: z.string(),
  use: z.enum(ownUses),
  models: z.array(z.string()).nullable().describe('The models that it may serve; null: all.'),
  address: z.string().nullable().describe("Its own address; null: the provider's."),
  state: z
    .enum(['in use', 'not tested', 'not allowed'])
    .describe(
      '"not tested": no key has passed its test yet. "not allowed": the operator does not allow it now.',
    ),
  testedAt: z.iso.datetime().nullable(),
  failure: z.string().nullable().describe('Why the latest test failed; null: it did not.'),
  createdAt: z.iso.datetime(),
});
export type ShownOwnKey = z.output<typeof shownOwnKey>;
