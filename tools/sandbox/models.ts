import { faultNames } from '#tools/sandbox/scenario/faults';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

export interface SandboxModel {
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Reports newly cached tokens, as models with priced cache writes do. */
  readonly reportsCacheWrites: boolean;
  /** Reasoning tokens of every answer, if the name does not say. */
  readonly reasoning: number;
}

const plain: SandboxModel = {
  contextTokens: 1_000_000,
  maxOutputTokens: 65_536,
  reportsCacheWrites: false,
  reasoning: 0,
};

/** The models without faults; names as the provider knows them. */
const models: Readonly<Record<string, SandboxModel>> = {
  echo: plain,
  mini: { ...plain, contextTokens: 4_096, maxOutputTokens: 256 },
  'priced-cache': { ...plain, reportsCacheWrites: true },
  reasoner: { ...plain, reasoning: 24 },
  film: plain,
  picture: plain,
  /** Priced per image: it reports no usage. */
  print: plain,
  vectors: plain,
  ranker: plain,
  moderator: plain,
  speaker: plain,
  /** Priced by the character: it has no streams of events. */
  narrator: plain,
  listener: plain,
  /** Priced by the length of the recording: it reports seconds. */
  scribe: plain,
  /** It talks and listens in a session. */
  talker: plain,
};

/** @throws ProviderFault 404 with the chat family's message, which names the known models. */
export function getModel(base: string): SandboxModel {
  const model = Object.hasOwn(models, base) ? models[base] : undefined;
  if (model) return model;
  const known = [...Object.keys(models), 'pace/MS/CHUNKS', 'fault/NAME'].join(', ');
  throw new ProviderFault(404, `The model '${base}' does not exist. Known: ${known}`, 'model_not_found');
}

/** The body of GET /v1/models. */
export function modelList(): object {
  const ids = [...Object.keys(models), ...faultNames().map((name) => `fault/${name}`)];
  const data = ids.map((id) => ({ id, object: 'model', created: 1_735_689_600, owned_by: 'sandbox' }));
  return { object: 'list', data };
}
