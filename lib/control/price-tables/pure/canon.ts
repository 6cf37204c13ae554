import { presets } from '#lib/control/providers/presets';
import type { FileProvider } from '#lib/core/schemas/catalogue';

/** What the tables call a provider. */
interface Canon {
  /** Keys of models.dev. */
  readonly modelsDev: readonly string[];
  /** `litellm_provider` of LiteLLM. */
  readonly litellm: readonly string[];
  /** Hosts of its addresses that no preset has. */
  readonly hosts?: RegExp;
  /** The names of its models are those of its customers' deployments, so that a table cannot know new ones. */
  readonly deployments?: true;
}

const canons: Readonly<Record<string, Canon>> = {
  openai: { modelsDev: ['openai'], litellm: ['openai', 'text-completion-openai'] },
  anthropic: { modelsDev: ['anthropic'], litellm: ['anthropic'] },
  google: { modelsDev: ['google'], litellm: ['gemini'] },
  vertex: {
    modelsDev: ['google-vertex', 'google-vertex-anthropic'],
    litellm: [
      'vertex_ai',
      'vertex_ai-language-models',
      'vertex_ai-anthropic_models',
      'vertex_ai-embedding-models',
    ],
    hosts: /(^|-)aiplatform\.googleapis\.com$/,
  },
  bedrock: {
    modelsDev: ['amazon-bedrock'],
    litellm: ['bedrock', 'bedrock_converse'],
    hosts: /^bedrock-runtime[.-].*amazonaws\.com$/,
  },
  azure: {
    modelsDev: ['azure'],
    litellm: ['azure', 'azure_ai'],
    hosts: /\.(openai|services\.ai|cognitiveservices)\.azure\.com$/,
    deployments: true,
  },
  groq: { modelsDev: ['groq'], litellm: ['groq'] },
  together: { modelsDev: ['togetherai'], litellm: ['together_ai'] },
  fireworks: { modelsDev: ['fireworks-ai'], litellm: ['fireworks_ai', 'fireworks_ai-embedding-models'] },
  deepinfra: { modelsDev: ['deepinfra'], litellm: ['deepinfra'] },
  cerebras: { modelsDev: ['cerebras'], litellm: ['cerebras'] },
  mistral: { modelsDev: ['mistral'], litellm: ['mistral'] },
  xai: { modelsDev: ['xai'], litellm: ['xai'] },
  deepseek: { modelsDev: ['deepseek'], litellm: ['deepseek'] },
  moonshotai: { modelsDev: ['moonshotai'], litellm: ['moonshot'] },
  zai: { modelsDev: ['zai'], litellm: ['zai'] },
  minimax: { modelsDev: ['minimax'], litellm: ['minimax'] },
  alibaba: { modelsDev: ['alibaba'], litellm: ['dashscope'] },
  openrouter: { modelsDev: ['openrouter'], litellm: ['openrouter'] },
  voyage: { modelsDev: [], litellm: ['voyage'], hosts: /^api\.voyageai\.com$/ },
};

const byTable = {
  'models.dev': byName(({ modelsDev }) => modelsDev),
  litellm: byName(({ litellm }) => litellm),
};

function byName(namesOf: (canon: Canon) => readonly string[]): ReadonlyMap<string, string> {
  return new Map(Object.entries(canons).flatMap(([id, canon]) => namesOf(canon).map((name) => [name, id])));
}

/** The provider that a table names; null: one that the gateway does not know. Pure. */
export function canonNamed(table: keyof typeof byTable, name: string): string | null {
  return byTable[table].get(name) ?? null;
}

/** The names by which a provider's models may be prefixed in LiteLLM's table: "xai/grok-4". Pure. */
export function prefixesOf(canon: string): readonly string[] {
  return canons[canon]?.litellm ?? [];
}

/** Whether a table can know new models of a provider. Pure. */
export function namesItsModels(canon: string): boolean {
  return canons[canon]?.deployments !== true;
}

const presetHosts = new Map(
  presets.flatMap(({ id, url }) => (url !== null && id in canons ? [[new URL(url).host, id] as const] : [])),
);

/**
 * Which provider of the tables a provider of the catalogue is: the one whose host its addresses have, or, if they are
 * all in variables, the one with its id. null: none, such as a server of one's own. Pure.
 */
export function canonOf({ id, families }: Pick<FileProvider, 'id' | 'families'>): string | null {
  const hosts = Object.values(families).flatMap((address) =>
    typeof address === 'string' && URL.canParse(address) ? [new URL(address).host] : [],
  );
  if (hosts.length === 0) return id in canons ? id : null;
  for (const host of hosts) {
    const preset = presetHosts.get(host);
    if (preset !== undefined) return preset;
    const other = Object.entries(canons).find(([, canon]) => canon.hosts?.test(host));
    if (other) return other[0];
  }
  return null;
}
