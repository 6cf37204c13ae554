import type { ListPlace } from '#lib/control/providers/list-places';
import type { FamilyId } from '#lib/core/families/ids';
import type { Auth, CredentialHeaderName, Variants } from '#lib/core/schemas/catalogue';

/** What a provider can be made from (contract: control-plane/add-provider). */
export interface Preset {
  /** Also the id of the provider, unless another one is given. */
  readonly id: string;
  readonly name: string;
  /** A company's service, a server on one's own machines, or any address that is compatible. */
  readonly kind: 'service' | 'server' | 'compatible';
  /** The usual versioned root; null: it must be given. */
  readonly url: string | null;
  /** The path that an address without one gets; default: that of `url`. */
  readonly path?: string;
  /** The address has a path that only its owner knows; one without a path is not accepted. */
  readonly ownPath?: true;
  /** Where each protocol is: "" is the root, "./path" below it, "/path" another path of the same host. */
  readonly families: Readonly<Partial<Record<FamilyId, string>>>;
  readonly credential: 'required' | 'optional' | 'none';
  readonly credentialHeaders?: Readonly<Partial<Record<FamilyId, CredentialHeaderName>>>;
  /** A cloud: what else than API keys it takes, and how its addresses differ from the protocols' own. */
  readonly auth?: Auth;
  readonly variants?: Variants;
  /** The form of its list of models; but at two clouds, the path is `models` below the root. */
  readonly list: ListPlace['style'];
  readonly pricesFrom?: string;
  /** What else to know when filling in the form. */
  readonly note?: string;
}

/** Which protocols of an unknown server exist is not known; the gateway translates to the one that all have. */
const compatible = { chat: '', completions: '', embeddings: '' } as const;
const bearerMessages = { messages: 'authorization' } as const;
const azureKey = 'api-key';

/** In the order in which people choose. */
export const presets: readonly Preset[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    kind: 'service',
    url: 'https://api.openai.com/v1',
    families: { chat: '', responses: '', images: '', completions: '', embeddings: '', moderations: '' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://developers.openai.com/api/docs/pricing',
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    kind: 'service',
    url: 'https://api.anthropic.com/v1',
    families: { messages: '', chat: '' },
    credential: 'required',
    list: 'anthropic',
    pricesFrom: 'https://platform.claude.com/docs/en/about-claude/pricing',
  },
  {
    id: 'google',
    name: 'Google AI Studio',
    kind: 'service',
    url: 'https://generativelanguage.googleapis.com/v1beta',
    families: {
      'generate-content': '',
      chat: '/v1beta/openai',
      'embed-content': '',
      embeddings: '/v1beta/openai',
    },
    credential: 'required',
    list: 'google',
    pricesFrom: 'https://ai.google.dev/gemini-api/docs/pricing',
  },
  {
    id: 'vertex-ai',
    name: 'Vertex AI',
    kind: 'service',
    url: null,
    ownPath: true,
    families: {
      'generate-content': './publishers/google',
      messages: './publishers/anthropic',
      chat: './endpoints/openapi',
    },
    credential: 'required',
    auth: { kind: 'google-service-account' },
    variants: { messages: 'vertex' },
    list: 'vertex',
    pricesFrom: 'https://cloud.google.com/vertex-ai/generative-ai/pricing',
    note: 'The address of your project and location, such as https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global.',
  },
  {
    id: 'amazon-bedrock',
    name: 'Amazon Bedrock',
    kind: 'service',
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    families: { messages: '', chat: './openai/v1' },
    credential: 'required',
    credentialHeaders: bearerMessages,
    auth: { kind: 'aws-sigv4' },
    variants: { messages: 'bedrock' },
    list: 'bedrock',
    pricesFrom: 'https://aws.amazon.com/bedrock/pricing/',
    note: 'With the region of your models in its name.',
  },
  {
    id: 'azure-openai',
    name: 'Azure OpenAI and AI Foundry',
    kind: 'service',
    url: null,
    path: '/openai/v1',
    families: { chat: '', responses: '', embeddings: '', images: '' },
    credential: 'required',
    credentialHeaders: { chat: azureKey, responses: azureKey, embeddings: azureKey, images: azureKey },
    auth: { kind: 'entra-id' },
    list: 'openai',
    note: 'The address of your resource, such as https://NAME.openai.azure.com or https://NAME.services.ai.azure.com. The name of a model at Azure is that of your deployment.',
  },
  {
    id: 'groq',
    name: 'Groq',
    kind: 'service',
    url: 'https://api.groq.com/openai/v1',
    families: { chat: '', responses: '' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://console.groq.com/docs/models',
  },
  {
    id: 'together',
    name: 'Together AI',
    kind: 'service',
    url: 'https://api.together.xyz/v1',
    families: { chat: '', completions: '', embeddings: '' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://www.together.ai/pricing',
  },
  {
    id: 'fireworks',
    name: 'Fireworks AI',
    kind: 'service',
    url: 'https://api.fireworks.ai/inference/v1',
    families: { chat: '', responses: '', messages: '', completions: '', embeddings: '' },
    credential: 'required',
    credentialHeaders: bearerMessages,
    list: 'openai',
    pricesFrom: 'https://docs.fireworks.ai/serverless/pricing',
  },
  {
    id: 'deepinfra',
    name: 'DeepInfra',
    kind: 'service',
    url: 'https://api.deepinfra.com/v1/openai',
    families: compatible,
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://deepinfra.com/pricing',
  },
  {
    id: 'cerebras',
    name: 'Cerebras',
    kind: 'service',
    url: 'https://api.cerebras.ai/v1',
    families: { chat: '' },
    credential: 'required',
    list: 'openai',
  },
  {
    id: 'mistral',
    name: 'Mistral AI',
    kind: 'service',
    url: 'https://api.mistral.ai/v1',
    families: { chat: '', embeddings: '' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://mistral.ai/pricing',
  },
  {
    id: 'xai',
    name: 'xAI',
    kind: 'service',
    url: 'https://api.x.ai/v1',
    families: { chat: '', responses: '', images: '' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://docs.x.ai/docs/models',
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    kind: 'service',
    url: 'https://api.deepseek.com/v1',
    families: { chat: '', responses: '/', messages: '/anthropic/v1' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://api-docs.deepseek.com/quick_start/pricing',
  },
  {
    id: 'moonshotai',
    name: 'Moonshot AI',
    kind: 'service',
    url: 'https://api.moonshot.ai/v1',
    families: { chat: '', messages: '/anthropic/v1' },
    credential: 'required',
    credentialHeaders: bearerMessages,
    list: 'openai',
    pricesFrom: 'https://platform.kimi.ai/docs/pricing/chat',
  },
  {
    id: 'zai',
    name: 'Z.ai',
    kind: 'service',
    url: 'https://api.z.ai/api/paas/v4',
    families: { chat: '', messages: '/api/anthropic/v1' },
    credential: 'required',
    credentialHeaders: bearerMessages,
    list: 'openai',
    pricesFrom: 'https://docs.z.ai/guides/overview/pricing',
  },
  {
    id: 'minimax',
    name: 'MiniMax',
    kind: 'service',
    url: 'https://api.minimax.io/v1',
    families: { chat: '', messages: '/anthropic/v1' },
    credential: 'required',
    credentialHeaders: bearerMessages,
    list: 'openai',
  },
  {
    id: 'alibaba',
    name: 'Alibaba Cloud Model Studio',
    kind: 'service',
    url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    families: { chat: '', responses: '', messages: '/apps/anthropic/v1' },
    credential: 'required',
    credentialHeaders: bearerMessages,
    list: 'openai',
    pricesFrom: 'https://www.alibabacloud.com/help/en/model-studio/billing-for-model-studio',
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    kind: 'service',
    url: 'https://openrouter.ai/api/v1',
    families: { chat: '', completions: '', embeddings: '' },
    credential: 'required',
    list: 'openai',
    pricesFrom: 'https://openrouter.ai/models',
  },
  {
    id: 'ollama',
    name: 'Ollama',
    kind: 'server',
    url: 'http://localhost:11434/v1',
    families: compatible,
    credential: 'none',
    list: 'openai',
  },
  {
    id: 'vllm',
    name: 'vLLM',
    kind: 'server',
    url: 'http://localhost:8000/v1',
    families: { chat: '', responses: '', completions: '', embeddings: '', rerank: '' },
    credential: 'optional',
    list: 'openai',
    note: 'A credential is needed only if the server was started with --api-key.',
  },
  {
    id: 'lm-studio',
    name: 'LM Studio',
    kind: 'server',
    url: 'http://localhost:1234/v1',
    families: compatible,
    credential: 'optional',
    list: 'openai',
  },
  {
    id: 'openai-compatible',
    name: 'OpenAI-compatible',
    kind: 'compatible',
    url: null,
    path: '/v1',
    families: compatible,
    credential: 'optional',
    list: 'openai',
    note: 'The address to which /chat/completions is added; it usually ends in /v1.',
  },
  {
    id: 'anthropic-compatible',
    name: 'Anthropic-compatible',
    kind: 'compatible',
    url: null,
    path: '/v1',
    families: { messages: '' },
    credential: 'optional',
    list: 'anthropic',
    note: 'The address to which /messages is added; it usually ends in /v1.',
  },
  {
    id: 'google-compatible',
    name: 'Google-compatible',
    kind: 'compatible',
    url: null,
    path: '/v1beta',
    families: { 'generate-content': '' },
    credential: 'optional',
    list: 'google',
    note: 'The address to which /models/NAME:generateContent is added; it usually ends in /v1beta.',
  },
];

/** The families of a preset at an address, as a catalogue file has them. Pure. @param url was checked. */
export function familiesAt(preset: Preset, url: string): Partial<Record<FamilyId, string>> {
  const given = new URL(url);
  const path = preset.path ?? (preset.url === null ? '' : new URL(preset.url).pathname);
  const root = bare(given.pathname === '/' ? new URL(path, given).href : given.href);
  return Object.fromEntries(
    Object.entries(preset.families).map(([family, at]) => [
      family,
      at.startsWith('/') ? bare(new URL(at, given).href) : `${root}${at.slice(1)}`,
    ]),
  );
}

function bare(address: string): string {
  return address.replace(/\/+$/, '');
}
