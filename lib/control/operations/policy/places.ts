import { z } from 'zod';
import { optional } from '#lib/control/operations/field/field';
import { count, words } from '#lib/control/operations/field/kinds';
import { quoted } from '#lib/control/operations/refusal';

/** Address of policies in `/api/v1`. */
export const policies = '/workspaces/{workspace}/policies';

/** As stored in the database: what was written by hand may not be a valid policy. */
export const storedPolicy = z.record(z.string(), z.unknown());

export const modelField = optional(
  words(
    {
      label: 'Model',
      help: 'The model that the policy is for. Default: "default", the policy of the workspace.',
      placeholder: 'ID',
      example: 'default',
    },
    200,
  ),
);

/** The version that a change is based on, so that no change is lost. */
export const baseField = optional(
  count(
    {
      label: 'Base version',
      unit: 'version',
      help: 'The version that the change is based on, 0 for none; if another one is in force, the change is refused.',
    },
    { min: 0, max: 2_147_483_647 },
  ),
);

export const revisionField = optional(
  count(
    {
      label: 'Revision',
      unit: 'revision',
      help: 'The revision of the draft that was read, 0 for none; if the draft has another one, the change is refused.',
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
  .describe('Name or address of a user; null: a program, or a former user.');
