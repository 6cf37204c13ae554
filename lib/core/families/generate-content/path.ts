import type { Operation } from '#lib/core/families/family';

/** The newest SDK asks under `/v1`, older ones under the other two (contract: families/prefixes). */
export const contentPrefixes: Operation['prefixes'] = ['v1', 'v1beta', 'v1alpha'];

/** Query names for the format of an answer; field masks and protobuf are left out, since they would hide the usage. */
const framing = /^(sse|json)(;enum-encoding=int)?$/i;
export const contentQuery = { alt: framing, $alt: framing };

/** ":generateContent": what follows the model in the operation's path. */
export function verbOf({ path }: Operation): string {
  return path.slice(path.lastIndexOf(':'));
}
