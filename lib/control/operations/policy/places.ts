import { z } from 'zod';
import { optional } from '#lib/control/operations/field/field';
import { count, words } from '#lib/control/operations/field/kinds';
import { quoted } from '#lib/control/operations/refusal';

/** Where `/api/v1` has policies. */
export const policies = '/workspaces/{workspace}/policies';

/** As the database keeps it: what the operator wrote by hand may be no policy. */
export const storedPolicy = z.record(z.string(), z.unknown());

export const modelField = optional(
  words(
    {
      label: 'Model',
      help: 'The model that it is for; "default", or none, is the policy of the workspace.',
      placeholder: 'ID',
      example: 'default',
    },
    200,
  ),
);

/** The version that a change was made from, so that nobody's change is lost. */
export const baseField = optional(
  count(
    {
      label: 'Base version',
      unit: 'version',
      help: 'The version that was in force when the change was begun, 0 for none: refused when it is another one.',
    },
    { min: 0, max: 2_147_483_647 },
  ),
);

export const revisionField = optional(
  count(
    {
      label: 'Revision',
      unit: 'revision',
      help: 'The revision of the draft that was read, 0 for none: refused when it is another one.',
    },
    { min: 0, max: 2_147_483_647 },
  ),
);

/** Which policy: "" is the workspace's default. */
export const placeOf = (given: string | undefined) =>
  given === undefined || given === 'default' ? '' : given;
export const nameOf = (place: string) =>
  place === '' ? 'the default policy' : `the policy for ${quoted(place)}`;

/** Who wrote a version or a draft. */
export const author = z
  .string()
  .nullable()
  .meta({ description: 'The name or address of a user; null: a program, or somebody who is gone.' });
