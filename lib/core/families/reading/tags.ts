import { type Refusal, refusal } from '#lib/core/errors';
import { endUserName, longestTagValue, type Tag, type TagRules, tagNamePattern } from '#lib/core/facts/tags';
import type { FamilyId } from '#lib/core/families/ids';
import { objectIn } from '#lib/core/families/reading/json';
import type { FieldSpec, Found, Scan } from '#lib/core/families/scan';

/** Most tags of a call, without its end user. */
const MOST_TAGS = 16;
/** Bytes of a `metadata` with as many tags as a call may have. */
const MOST_METADATA_BYTES = 64 * 1024;
const LONGEST_HEADER = 8 * 1024;

/** Fields that name whom a request is for (contract: tags/sources); families without an entry have none. */
const fieldsOf: Partial<Record<FamilyId, FieldSpec>> = {
  chat: { user: {}, safety_identifier: {}, metadata: {} },
  responses: { user: {}, safety_identifier: {}, metadata: {} },
  messages: { metadata: {} },
};

/** What to scan the body of a family for; null: its body has no tags and no end user. */
export function tagFieldsOf(family: FamilyId): FieldSpec | null {
  return fieldsOf[family] ?? null;
}

/** Where the tags of a request are. */
interface TagSources {
  /** `X-Gateway-Tags`. */
  readonly header: string | undefined;
  /** The body, scanned for `tagFieldsOf` its family; null: it has no tags and no end user. */
  readonly scan: Pick<Scan, 'body' | 'found'> | null;
  readonly family: FamilyId;
}

/**
 * The tags of a request, and its end user among them (contract: tags/sources).
 * @returns `invalid_body` (contract: tags/bounds).
 */
export function readTags(
  { header, scan, family }: TagSources,
  { tags, endUsers }: Pick<TagRules, 'tags' | 'endUsers'>,
): readonly Tag[] | Refusal {
  // What is off is neither read nor checked (contract: tags/choice).
  const isRead = family === 'messages' ? endUsers : tags;
  const metadata = scan === null || !isRead ? {} : metadataIn(scan);
  if (metadata === null) {
    return refusal('invalid_body', 'Field "metadata" is over 64 KiB; send fewer or shorter pairs.');
  }
  const found = new Map<string, string>();
  if (endUsers && scan !== null) {
    const named = endUserIn(scan.found, metadata, family);
    if (named !== null) {
      const [field, value] = named;
      const fault = typeof value === 'string' ? valueFault(value) : 'must be a string';
      if (fault !== null || typeof value !== 'string') {
        return refusal('invalid_body', `Field "${field}", the id of the end user, ${fault}.`);
      }
      found.set(endUserName, withoutSession(value));
    }
  }
  const users = found.size;
  if (tags) {
    const wrong = readHeader(header, found);
    if (wrong !== null) return wrong;
    if (family !== 'messages') {
      for (const [name, value] of Object.entries(metadata)) {
        if (!tagNamePattern.test(name) || value === '' || found.has(name)) continue;
        const fault = typeof value === 'string' ? valueFault(value) : 'must be a string';
        if (fault !== null || typeof value !== 'string') {
          return refusal('invalid_body', `Field "metadata.${name}", which is recorded as a tag, ${fault}.`);
        }
        found.set(name, value);
      }
    }
  }
  if (found.size - users > MOST_TAGS) {
    return refusal(
      'invalid_body',
      `A call has at most ${MOST_TAGS} tags, those of X-Gateway-Tags and "metadata" together; send fewer.`,
    );
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** Adds the tags of the header. @returns what is wrong with it; null: nothing. */
function readHeader(header: string | undefined, found: Map<string, string>): Refusal | null {
  if (header === undefined || header.trim() === '') return null;
  const wrong = (why: string) =>
    refusal(
      'invalid_body',
      `Header X-Gateway-Tags ${why}; send pairs such as "feature=search, tenant=acme".`,
    );
  if (header.length > LONGEST_HEADER) return wrong('is over 8 KiB');
  const pairs = header.split(',');
  if (pairs.length > MOST_TAGS) return wrong(`has ${pairs.length} tags, a call may have ${MOST_TAGS}`);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
    if (at < 0) return wrong(`has the part ${shown(pair)}, which is not a pair`);
    if (!tagNamePattern.test(name)) {
      return wrong(`has the name ${shown(name)}; names have 1 to 64 letters, digits, "_", "." or "-"`);
    }
    const decoded = utf8Of(value);
    const fault = valueFault(decoded);
    if (fault !== null) return wrong(`has the tag ${shown(name)}, whose value ${fault}`);
    if (found.has(name)) return wrong(`names ${shown(name)} twice`);
    found.set(name, decoded);
  }
  return null;
}

/** Headers arrive with a character for each byte. */
function utf8Of(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\uFFFD') ? value : text;
}

function shown(text: string): string {
  return JSON.stringify(text.trim().slice(0, 80));
}

function valueFault(value: string): string | null {
  if (value === '') return 'must not be empty';
  if (value.length > longestTagValue) return `must have at most ${longestTagValue} characters`;
  return /^[^\p{Cc}\p{Cs}]*$/u.test(value) ? null : 'must not have control characters';
}

/** The field that names the end user, and its value; null: none does. */
function endUserIn(
  found: ReadonlyMap<string, Found>,
  metadata: Readonly<Record<string, unknown>>,
  family: FamilyId,
): readonly [field: string, value: unknown] | null {
  if (family === 'messages') {
    const value = metadata.user_id ?? null;
    return value === null || value === '' ? null : ['metadata.user_id', value];
  }
  for (const field of ['safety_identifier', 'user']) {
    const value = found.get(field);
    if (value !== undefined && value.value !== '') return [field, value.value];
  }
  return null;
}

/** null: it is too long. What is not an object has no pairs. */
function metadataIn({ body, found }: Pick<Scan, 'body' | 'found'>): Readonly<Record<string, unknown>> | null {
  const at = found.get('metadata');
  if (at?.type !== 'object') return {};
  if (at.end - at.start > MOST_METADATA_BYTES) return null;
  return objectIn(JSON.parse(new TextDecoder().decode(body.subarray(at.start, at.end)))) ?? {};
}

/** Claude Code sends `user_<hash>_account_<uuid>_session_<uuid>`: the session is no part of who it is. */
function withoutSession(id: string): string {
  return /^(user_[0-9a-f]+_account_[0-9a-f-]*)_session_[0-9a-f-]+$/i.exec(id)?.[1] ?? id;
}
