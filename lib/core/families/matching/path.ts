import { type Refusal, refusal } from '#lib/core/errors';

/**
 * Splits a request path at its slashes and decodes each segment.
 * @returns the segments after the leading slash; or why the path is invalid: percent signs that decode to
 * nothing, control characters, dot segments (which could climb at a provider): `invalid_body`; an empty
 * segment: `not_found` (contract: request/malformed-target).
 */
export function decodeSegments(path: string): string[] | Refusal {
  if (!path.startsWith('/')) {
    return refusal('invalid_body', 'The request target must be a path that starts with "/".');
  }
  const segments = path.slice(1).split('/');
  for (let i = 0; i < segments.length; i++) {
    const decoded = decode(segments[i] ?? '');
    if (decoded === null) {
      return refusal(
        'invalid_body',
        'The path contains an invalid "%" escape; write a literal percent sign as "%25".',
      );
    }
    if (decoded === '') {
      return refusal('not_found', 'The path has an empty segment; write one "/" between its parts.');
    }
    if (hasControlCharacter(decoded)) {
      return refusal('invalid_body', 'The path contains a control character or a backslash; remove it.');
    }
    if (decoded.split('/').some((part) => part === '.' || part === '..' || part === '')) {
      return refusal('invalid_body', 'The path contains a "." or ".." segment; send the full path.');
    }
    segments[i] = decoded;
  }
  return segments;
}

function decode(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x20 || c === 0x7f || c === 0x5c) return true;
  }
  return false;
}
