import type { Abilities, Ability } from '#lib/core/facts/abilities';
import type { FamilyId } from '#lib/core/families/ids';
import { memberOf } from '#lib/core/families/reading/json';
import { inputKinds, type Variants } from '#lib/core/schemas/catalogue';

/** What a provider's list says of a model (contract: control-plane/discover-models). */
export interface ListedEntry {
  /** As the provider calls it. */
  readonly upstreamModel: string;
  /** null: the list has no name for people. */
  readonly name: string | null;
  readonly kind: 'text' | 'embeddings' | 'rerank' | 'other';
  /** Tokens; null: the list does not say. */
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
  /** null: the list does not say. */
  readonly input: readonly (typeof inputKinds)[number][] | null;
  /** What the list says that it can do, and cannot. */
  readonly abilities: Abilities;
  /** The model behind a name of a cloud: other names by which the catalogue may know it, most exact first. */
  readonly knownAs?: readonly string[];
  /** Calls cannot name it: its list is read only for what another one says of the same model. */
  readonly uncallable?: true;
}

export interface ListPage {
  readonly entries: readonly ListedEntry[];
  /** The query of the next page; null: this is the last one. */
  readonly next: Readonly<Record<string, string>> | null;
}

const largest = 2_147_483_647;
const longestName = 300;
/** Control characters, line separators and what reverses the direction of text. */
const odd = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/**
 * Reads an answer of a provider's models list in any of the known forms: `data` of OpenAI and Anthropic, `models` of
 * Google, or a bare array. What cannot be read is left out. Pure. @returns null if it is no such list.
 */
export function readModelList(body: unknown): ListPage | null {
  const rows = Array.isArray(body) ? body : (arrayIn(body, 'data') ?? arrayIn(body, 'models'));
  if (rows === null) return null;
  // A list that does not go on would be read for ever.
  return { entries: rows.flatMap((row) => entryOf(row) ?? []), next: rows.length > 0 ? nextOf(body) : null };
}

function nextOf(body: unknown): ListPage['next'] {
  const token = textIn(body, 'nextPageToken');
  if (token) return { pageSize: '1000', pageToken: token };
  const last = textIn(body, 'last_id');
  return memberOf(body, 'has_more') === true && last ? { limit: '1000', after_id: last } : null;
}

function entryOf(row: unknown): ListedEntry | null {
  const given = textIn(row, 'id') ?? textIn(row, 'name') ?? textIn(row, 'model');
  const upstreamModel = given?.replace(/^models\//, '').trim() ?? '';
  if (!isUsable(upstreamModel)) return null;
  const shown = textIn(row, 'display_name') ?? textIn(row, 'displayName') ?? textIn(row, 'name');
  return {
    upstreamModel,
    name: shown && shown !== given && isUsable(shown.trim()) ? shown.trim().slice(0, 200) : null,
    kind: kindOf(row, upstreamModel),
    contextTokens: tokensIn(row, contextPaths),
    maxOutputTokens: tokensIn(row, outputPaths),
    input: inputOf(row),
    abilities: abilitiesIn(row),
  };
}

/** A name that can be shown and sent. */
export function isUsable(text: string): boolean {
  return text.length > 0 && text.length <= longestName && text.isWellFormed() && !odd.test(text);
}

/** Names that lists give to the length of input and output, most exact first. */
const contextPaths = [
  'context_length',
  'context_window',
  'max_context_length',
  'max_model_len',
  'max_input_tokens',
  'inputTokenLimit',
  'metadata.context_length',
  'meta.n_ctx',
  'meta.n_ctx_train',
];
/** Of one answer. */
const outputPaths = [
  'max_completion_tokens',
  'max_output_tokens',
  'outputTokenLimit',
  'top_provider.max_completion_tokens',
  'metadata.max_tokens',
  'max_tokens',
];

function tokensIn(row: unknown, paths: readonly string[]): number | null {
  for (const path of paths) {
    const value = path.split('.').reduce(memberOf, row);
    if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= largest) return value;
  }
  return null;
}

function inputOf(row: unknown): ListedEntry['input'] {
  const listed =
    arrayIn(memberOf(row, 'architecture'), 'input_modalities') ?? arrayIn(row, 'input_modalities');
  const known = inputKinds.filter((kind) => listed?.includes(kind));
  if (known.length > 0) return known;
  const sees = [
    memberOf(memberOf(row, 'capabilities'), 'vision'),
    memberOf(row, 'supports_image_in'),
    memberOf(row, 'supports_image_input'),
  ];
  return sees.includes(true) ? ['text', 'image'] : null;
}

/** Names that lists give to abilities: members of `capabilities`, of `supported_parameters`, or of the entry itself. */
const abilityNames: Readonly<Record<string, Ability>> = {
  function_calling: 'tools',
  tools: 'tools',
  tool_use: 'tools',
  supports_tools: 'tools',
  structured_outputs: 'schemas',
  json_schema: 'schemas',
  vision: 'images',
  image_input: 'images',
  supports_image_in: 'images',
  supports_image_input: 'images',
  pdf_input: 'pdf',
  audio_input: 'audio',
  video_input: 'video',
  supports_video_in: 'video',
  thinking: 'thinking',
  reasoning: 'thinking',
  supports_reasoning: 'thinking',
};

/** Lists of names say only what it can do; members that are true or false say both. */
function abilitiesIn(row: unknown): Abilities {
  const known: Partial<Record<Ability, boolean>> = {};
  const stated = memberOf(row, 'capabilities');
  const named = [
    ...(arrayIn(row, 'supported_parameters') ?? []),
    ...(arrayIn(row, 'capabilities') ?? []),
    ...(arrayIn(row, 'supported_features') ?? []),
  ];
  for (const [name, ability] of Object.entries(abilityNames)) {
    if (named.includes(name)) known[ability] = true;
    for (const value of [memberOf(stated, name), memberOf(row, name)]) {
      const yes = typeof value === 'object' ? memberOf(value, 'supported') : value;
      if (typeof yes === 'boolean') known[ability] = yes;
    }
  }
  return known;
}

/** What a model is for, by what a list says of it and by its name. */
export function kindOf(row: unknown, id: string): ListedEntry['kind'] {
  const type = textIn(row, 'type')?.toLowerCase() ?? '';
  const methods = arrayIn(row, 'supportedGenerationMethods');
  if (methods?.includes('generateContent')) return otherNames.test(id) ? 'other' : 'text';
  if (methods) return methods.includes('embedContent') ? 'embeddings' : 'other';
  if (/rerank/.test(type) || /rerank/i.test(id)) return 'rerank';
  if (/^embedding/.test(type) || embeddingNames.test(id)) return 'embeddings';
  if (/^(image|audio|video|moderation|transcription|transcribe)/.test(type)) return 'other';
  return otherNames.test(id) ? 'other' : 'text';
}

const embeddingNames = /embed|(^|[/_-])(bge|e5|gte|minilm)[-_]/i;
const otherNames =
  /whisper|(^|[-/_])(tts|stt|asr|veo|sora|imagen|dall-e|flux|lyria)|transcri|moderation|realtime|gpt-image|image-(generation|preview)|stable-diffusion|speech|diarize/i;

/** Protocols in which a model of each kind is offered, as far as its provider speaks them. */
const familiesByKind: Readonly<Record<ListedEntry['kind'], readonly FamilyId[]>> = {
  text: ['chat', 'responses', 'messages', 'generate-content'],
  embeddings: ['embeddings', 'embed-content'],
  rerank: ['rerank'],
  other: [],
};

/**
 * The protocols in which a model is offered unless others are chosen. At a cloud, each vendor's models have their own:
 * Claude messages, Gemini generate-content, and all others chat. Pure.
 */
export function familiesFor(
  { kind, upstreamModel, knownAs = [] }: Pick<ListedEntry, 'kind' | 'upstreamModel' | 'knownAs'>,
  spoken: readonly string[],
  variants: Variants = {},
): FamilyId[] {
  const all = familiesByKind[kind].filter((family) => spoken.includes(family));
  if (kind !== 'text' || variants.messages === undefined) return all;
  // The name of an application's inference profile says nothing of its model.
  const own = [upstreamModel, ...knownAs].some((name) => /(^|\.)claude-|anthropic\.claude/.test(name))
    ? 'messages'
    : /^gemini-/.test(upstreamModel)
      ? 'generate-content'
      : 'chat';
  return all.filter((family) => family === own);
}

export function arrayIn(value: unknown, name: string): unknown[] | null {
  const member = memberOf(value, name);
  return Array.isArray(member) ? member : null;
}

export function textIn(value: unknown, name: string): string | null {
  const member = memberOf(value, name);
  return typeof member === 'string' && member !== '' ? member : null;
}
