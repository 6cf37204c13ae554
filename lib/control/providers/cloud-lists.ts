import {
  arrayIn,
  isUsable,
  kindOf,
  type ListedEntry,
  type ListPage,
  textIn,
} from '#lib/control/providers/model-list';
import { memberOf } from '#lib/core/families/reading/json';
import { inputKinds } from '#lib/core/schemas/catalogue';

/** What clouds say of their models, each in its own form (contract: control-plane/clouds-lists). All of it is pure. */

const unknown = { name: null, contextTokens: null, maxOutputTokens: null, input: null, abilities: {} };

/**
 * Reads an answer of Bedrock's ListFoundationModels, which has no pages. Models that are served only by an inference
 * profile, or with provisioned throughput, are uncallable. @returns null if it is no such list.
 */
export function readFoundationModels(body: unknown): ListPage | null {
  const rows = arrayIn(body, 'modelSummaries');
  return rows && { entries: rows.flatMap((row) => foundationModel(row) ?? []), next: null };
}

function foundationModel(row: unknown): ListedEntry | null {
  const id = textIn(row, 'modelId');
  if (id === null || !isUsable(id)) return null;
  const name = textIn(row, 'modelName');
  const inputs = arrayIn(row, 'inputModalities');
  const outputs = arrayIn(row, 'outputModalities');
  const served = arrayIn(row, 'inferenceTypesSupported');
  const kind = outputs?.includes('EMBEDDING')
    ? 'embeddings'
    : outputs && !outputs.includes('TEXT')
      ? 'other'
      : kindOf(row, id);
  const input = inputKinds.filter((one) => inputs?.includes(one.toUpperCase()));
  return {
    ...unknown,
    upstreamModel: id,
    name: name && isUsable(name) ? name : null,
    kind,
    input: input.length > 0 ? input : null,
    abilities: kind === 'text' && input.length > 0 ? { images: input.includes('image') } : {},
    knownAs: namesBehind(id),
    ...(served && served.length > 0 && !served.includes('ON_DEMAND') && { uncallable: true }),
  };
}

/**
 * Reads a page of Bedrock's ListInferenceProfiles.
 * @param models what the other list says of the models behind them.
 * @returns null if it is no such list.
 */
export function readInferenceProfiles(body: unknown, models: readonly ListedEntry[]): ListPage | null {
  const rows = arrayIn(body, 'inferenceProfileSummaries');
  if (rows === null) return null;
  const known = new Map(models.map((model) => [model.upstreamModel, model]));
  const token = textIn(body, 'nextToken');
  return {
    entries: rows.flatMap((row) => inferenceProfile(row, known) ?? []),
    next: token && rows.length > 0 ? { ...profilesQuery, nextToken: token } : null,
  };
}

/** Of the first page of inference profiles. */
export const profilesQuery = { maxResults: '1000' };

function inferenceProfile(row: unknown, known: ReadonlyMap<string, ListedEntry>): ListedEntry | null {
  // The id of a profile that an account has made is random, and only its ARN can be called everywhere.
  const own = textIn(row, 'type') === 'APPLICATION';
  const id = textIn(row, own ? 'inferenceProfileArn' : 'inferenceProfileId');
  const status = textIn(row, 'status');
  if (id === null || !isUsable(id) || (status !== null && status !== 'ACTIVE')) return null;
  const behind = /(?:^|:)foundation-model\/(.+)$/.exec(
    textIn(arrayIn(row, 'models')?.[0], 'modelArn') ?? '',
  )?.[1];
  const base = behind && isUsable(behind) ? behind : id;
  const model = known.get(base);
  const name = textIn(row, 'inferenceProfileName');
  const { kind, contextTokens, maxOutputTokens, input, abilities } = model ?? {
    ...unknown,
    kind: kindOf(null, base),
  };
  return {
    kind,
    contextTokens,
    maxOutputTokens,
    input,
    abilities,
    upstreamModel: id,
    name: name && isUsable(name) ? name : (model?.name ?? null),
    knownAs: base === id ? namesBehind(id) : [base, ...namesBehind(base)],
  };
}

/** Where a profile of Bedrock sends calls, and the vendor of the model. */
const prefixes = /^(?:(?:us-gov|us|eu|apac|global|jp|au|ca|sa|in)\.)?[a-z0-9]+\./;
const versions = /-v\d+(:\w+)*$|-\d+(:\w+)+$/;

/** "us.anthropic.claude-x-20260101-v1:0" → "claude-x-20260101-v1:0", "claude-x-20260101" and "claude-x". */
function namesBehind(id: string): string[] {
  const model = id.replace(prefixes, '');
  const unversioned = model.replace(versions, '');
  return [...new Set([model, unversioned, unversioned.replace(/-\d{8}$/, '')])].filter((one) => one !== id);
}

/** A version of Claude. */
const dated = /^\d{8}$/;

/**
 * Reads a page of a publisher's models at Vertex AI, in the names by which they are called there. Only models that
 * Google serves itself are taken: Model Garden also has thousands that must be deployed first.
 * @param asContent whether Gemini is called by generate-content; otherwise by chat, under another name.
 * @returns null if it is no such list.
 */
export function readPublisherModels(body: unknown, publisher: string, asContent: boolean): ListPage | null {
  const token = textIn(body, 'nextPageToken');
  // Google leaves out what is empty.
  const rows = arrayIn(body, 'publisherModels') ?? (isEmptyList(body) ? [] : null);
  if (rows === null) return null;
  return {
    entries: rows.flatMap((row) => publisherModel(row, publisher, asContent) ?? []),
    next: token && rows.length > 0 ? { ...publisherQuery, pageToken: token } : null,
  };
}

/** Of the first page of a publisher's models. */
export const publisherQuery = { pageSize: '100' };

function isEmptyList(body: unknown): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    !Array.isArray(body) &&
    Object.keys(body).every((name) => name === 'nextPageToken')
  );
}

function publisherModel(row: unknown, publisher: string, asContent: boolean): ListedEntry | null {
  const name = textIn(row, 'name') ?? '';
  const model = name.startsWith(`publishers/${publisher}/models/`) ? name.split('/').slice(3).join('/') : '';
  const upstreamModel = calledAs(model, textIn(row, 'versionId') ?? '', { publisher, asContent });
  if (upstreamModel === null || !isUsable(upstreamModel)) return null;
  const served =
    model.endsWith('-maas') || memberOf(memberOf(row, 'supportedActions'), 'deploy') === undefined;
  if (!served) return null;
  const bare = model.replace(/@.*$/, '').replace(/-maas$/, '');
  return {
    ...unknown,
    upstreamModel,
    kind: /(^|-)live(-|$)|native-audio/.test(model) ? 'other' : kindOf(null, model),
    knownAs: [...new Set([model, bare, bare.replace(/-\d{3}$/, '')])].filter((one) => one !== upstreamModel),
  };
}

/** null: it cannot be called by any protocol of the gateway. */
function calledAs(
  model: string,
  version: string,
  { publisher, asContent }: { readonly publisher: string; readonly asContent: boolean },
): string | null {
  if (publisher === 'anthropic') {
    if (!model.startsWith('claude-')) return null;
    return dated.test(version) && !model.includes('@') ? `${model}@${version}` : model;
  }
  if (publisher === 'google' && model.startsWith('gemini-')) return asContent ? model : `google/${model}`;
  return model.endsWith('-maas') || (publisher === 'xai' && model !== '') ? `${publisher}/${model}` : null;
}

/** What Azure says of models that a resource may deploy: those for fine-tuning only are uncallable. */
export function readAzureModels(page: ListPage | null, body: unknown): ListPage | null {
  const rows = arrayIn(body, 'data');
  if (page === null || rows === null) return page;
  const said = new Map(rows.map((row) => [textIn(row, 'id'), memberOf(row, 'capabilities')]));
  const entries = page.entries.map((entry): ListedEntry => {
    const can = said.get(entry.upstreamModel);
    const bare = entry.upstreamModel.replace(/-\d{4}-\d{2}-\d{2}$/, '');
    return {
      ...entry,
      ...(memberOf(can, 'embeddings') === true && { kind: 'embeddings' as const }),
      ...(memberOf(can, 'inference') === false && { uncallable: true as const }),
      ...(bare !== entry.upstreamModel && { knownAs: [bare] }),
    };
  });
  return { ...page, entries };
}
