import { Refused, refusal } from '#lib/core/errors';

/** Refusals of a body that cannot be read, shared by both lanes: `invalid_body` (contract: body/json-limit). */
export function tooLarge(limit: number): Refused {
  return invalidBody(`The request body is over the limit of ${limit} bytes; send a smaller one.`);
}

/** @param limit of what a compressed body decodes to, bytes. */
export function tooLargeDecoded(limit: number): Refused {
  return invalidBody(
    `The request body decodes to more than the limit of ${limit} bytes; send a smaller one.`,
  );
}

/** @param stallMs how long no byte arrived, ms. */
export function stalled(stallMs: number): Refused {
  return invalidBody(`The request body stalled for ${stallMs / 1000} s; send it again without pauses.`);
}

/** @param pace the minimum rate of large bodies. */
export function tooSlow({ windowBytes, windowMs }: { windowBytes: number; windowMs: number }): Refused {
  const seconds = windowMs / 1000;
  const rate = Math.round(windowBytes / 1024 / seconds);
  return invalidBody(
    `The request body arrived at less than ${rate} KiB/s over ${seconds} s; send large bodies on a faster connection.`,
  );
}

export function endedEarly(): Refused {
  return invalidBody('The request body ended early; send all of it with a matching Content-Length.');
}

/** @param message what to do next. */
export function invalidBody(message: string): Refused {
  return new Refused(refusal('invalid_body', message));
}
