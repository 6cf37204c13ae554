import { objectIn, textIn } from '#lib/core/families/reading/json';

/** What an `error` part of a stream says. */
export interface ProviderError {
  /** In the provider's words. */
  readonly message: string;
  /** HTTP status that fits; null: not known. */
  readonly status: number | null;
}

export function readProviderError(error: unknown): ProviderError {
  const object = objectIn(error);
  const nested = objectIn(object?.error);
  const message =
    textIn(error) ??
    textIn(object?.message) ??
    textIn(nested?.message) ??
    "The provider's stream reported an error.";
  const status = object?.statusCode ?? nested?.statusCode;
  return { message, status: typeof status === 'number' ? status : null };
}

export const interrupted = "The provider's stream ended before the answer was complete.";
