/** Version segments that a base address may end in. */
const versions = /^((?:\/(?:v1beta|v1alpha|v1)(?=\/))*)(\/.+)$/;

/** An upload, whose SDKs write the version behind the word. */
const uploads = /^(?:\/(?:v1beta|v1alpha|v1))?\/upload\/(v1beta|v1alpha|v1)(\/.+)$/;

/** Doubled slashes come from a base address that ends in one; no part of a path is empty. */
export function withoutEmptySegments(path: string): string {
  return path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
}

/**
 * The likely intended paths when a base address lacks the version, or includes one to which the SDK adds
 * another (contract: request/addresses): "/chat/completions" is "/v1/chat/completions", and so is
 * "/v1/v1/chat/completions". Of two different versions the SDK's own, the last, is tried first.
 * "/upload/v1beta/files" is "/v1beta/upload/files".
 * @returns the likelier path first; none for a path that has exactly one version.
 */
export function spellingsOf(path: string): readonly string[] {
  const [, version, uploaded] = uploads.exec(path) ?? [];
  if (version !== undefined) return [`/${version}/upload${uploaded}`];
  const [, prefix = '', rest] = versions.exec(path) ?? [];
  if (rest === undefined) return [];
  const [, first, last, third] = prefix.split('/');
  if (first === undefined) return [`/v1${rest}`, `/v1beta${rest}`];
  if (last === undefined || third !== undefined) return [];
  return first === last ? [`/${last}${rest}`] : [`/${last}${rest}`, `/${first}${rest}`];
}
