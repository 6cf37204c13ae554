/** What a test sets of the clouds' stand-in. */
export interface CloudState {
  /** How far its clocks are ahead of this machine's, ms. */
  aheadMs: number;
  /** How long the tokens and keys of roles that it issues are valid, s. */
  tokenSeconds: number;
  /** Credentials, tokens and roles that it refuses. */
  revoked: boolean;
  /** The workloads of the cluster may no longer use their role: their tokens are refused, in words that repeat them. */
  unfederated: boolean;
  /** Issuers answer with the secret that they were sent. */
  echo: boolean;
  /** Issuers answer only when this is false. */
  issuersHang: boolean;
  /** How Bedrock writes its streams: bytes of each piece; 0: all at once. */
  pieceBytes: number;
  /** What happens in Bedrock's streams. */
  ending: 'well' | 'cut' | 'exception' | 'damaged';
  /** Bedrock and Vertex refuse calls with this status; 0: they do not. */
  refuseWith: number;
  /** Permissions and publishers that no identity has when it asks for lists of models. */
  denied: readonly string[];
}

export const calm: CloudState = {
  aheadMs: 0,
  tokenSeconds: 3_600,
  revoked: false,
  unfederated: false,
  echo: false,
  issuersHang: false,
  pieceBytes: 0,
  ending: 'well',
  refuseWith: 0,
  denied: [],
};

/** A request that it was sent. */
export interface CloudRequest {
  /** "google token", "vertex", "entra token", "azure", "sts", "bedrock", … as the stand-in's list of fronts has it. */
  readonly what: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
}

/** Credentials that it accepts. */
export const cloudKeys = {
  aws: { accessKeyId: 'AKIATESTTESTTESTTEST', secretAccessKey: 'aws-secret-0123456789abcdefghijklmnop' },
  bedrock: 'bedrock-api-key-0123456789abcdef',
  azure: 'azure-api-key-0123456789abcdef',
  entra: {
    tenant: '11111111-2222-3333-4444-555555555555',
    clientId: '66666666-7777-8888-9999-000000000000',
    clientSecret: 'entra-secret-0123456789abcdef',
  },
  role: 'arn:aws:iam::123456789012:role/gateway',
  email: 'gateway@test.iam.gserviceaccount.com',
  /** The cluster that issues tokens of workloads, and what each cloud calls itself in them. */
  cluster: {
    issuer: 'https://cluster.test',
    subject: 'system:serviceaccount:default:gateway',
    audiences: {
      google: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/c',
      entra: 'api://AzureADTokenExchange',
      aws: 'sts.amazonaws.com',
    },
  },
  /** What the environment of a machine contains. */
  machine: {
    identityHeader: 'identity-header-0123456789abcdef',
    containerToken: 'container-token-0123456789abcdef',
  },
};
