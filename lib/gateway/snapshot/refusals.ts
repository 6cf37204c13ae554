import { type Refusal, refusal, retryIn } from '#lib/core/errors';

export const malformed = refusal(
  'invalid_api_key',
  'The API key is not a key of this gateway; copy all of it, as it was shown when it was created.',
);
export const notFound = refusal(
  'invalid_api_key',
  'The API key is unknown; create one in the workspace console.',
);
export const revoked = refusal(
  'invalid_api_key',
  'The API key was revoked; create a new one in the workspace console.',
);
export const rotatedOut = refusal(
  'invalid_api_key',
  'The API key was replaced by a rotation and its overlap has ended; use the new key.',
);
export const unresolved = refusal(
  'auth_resolve_failed',
  'The API key could not be looked up, because the database did not answer; retry with backoff.',
);

/** @param waitSeconds whole seconds, 1 to 30. */
export function coolingDown(waitSeconds: number): Refusal {
  return refusal(
    'hydrate_cooldown',
    `Look-ups of API keys are paused for a moment. ${retryIn(waitSeconds)}`,
    { retryAfterSeconds: waitSeconds },
  );
}
