import type { Keeper } from '#lib/core/facts/credential';
import type { FamilyId } from '#lib/core/families/ids';

/**
 * Something that a provider keeps for a workspace and that later requests name by its id
 * (contract: jobs/ownership). Ids are the provider's own: what a client sees is what it sent.
 */
export const resourceKinds = [
  'response',
  'item',
  'conversation',
  'completion',
  'video',
  'character',
  'operation',
  'file',
  'batch',
  'cache',
] as const;

/** Kinds that providers keep until they are deleted, and so does the gateway (contract: jobs/lifetime). */
export const lastingKinds: readonly ResourceKind[] = ['conversation', 'character', 'file', 'cache'];

export type ResourceKind = (typeof resourceKinds)[number];

/** A resource as its workspace owns it. Rows of most kinds live 30 days, or until the resource is deleted. */
export interface Resource extends Keeper {
  readonly kind: ResourceKind;
  /** The provider's id; of an operation and of a file, the last segment of its name. */
  readonly id: string;
  readonly workspaceId: string;
  readonly family: FamilyId;
  /** Slug of the model that made it, and the provider's name for it. */
  readonly modelId: string;
  readonly upstreamModel: string;
  /** The call that made it; of a job, also the job's id. */
  readonly callId: string;
  /** Whether it is a job that is charged when it completes. */
  readonly job: boolean;
  /** Metered total of the call that made it, tokens: what a request that continues it reads again. */
  readonly tokens: number;
  readonly createdAtMs: number;
  /** What lists show of it, as the call of `viewedAtMs` saw it; absent: no list shows it, or that is unchanged. */
  readonly view?: ResourceView;
  readonly viewedAtMs?: number;
  /** Of a file of requests: what its lines ask for together (contract: batches/read); absent: it is none. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** Plain JSON without what clients wrote to a model, or a model to them (contract: jobs/resource-list). */
export type ResourceView = Readonly<Record<string, unknown>>;

/** One page of a list of resources. */
export interface ResourcePage {
  readonly kind: ResourceKind;
  readonly family: FamilyId;
  /** The last id of the page before; null: the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Members that the view must have; null: any. */
  readonly having: ResourceView | null;
  /** A name of the model that made it: its slug, the provider's name, or the one in the view; null: any. */
  readonly model: string | null;
}

/** A resource that an answer shows to the client, before the gateway knows whose it is. */
export interface ShownResource {
  readonly kind: ResourceKind;
  readonly id: string;
  /** What lists show of it from now on; absent: as before. */
  readonly view?: ResourceView;
}

/**
 * A resource that a request continues. `required`: unknown is 404 `not_found`; else (encrypted
 * reasoning carries its own state) an unknown one passes and pins nothing.
 */
export interface ResourceReference extends ShownResource {
  readonly required: boolean;
}

/** Looks resources up and keeps new ones. Every look-up is scoped by workspace. */
export interface Resources {
  /** In memory, then in PostgreSQL, with one retry after 300 ms; null: none of this workspace. */
  find(workspaceId: string, kind: ResourceKind, id: string): Resource | null | Promise<Resource | null>;
  /** Those of `shown` that no other workspace has, at whatever provider. */
  unclaimed(workspaceId: string, shown: readonly ShownResource[]): Promise<readonly ShownResource[]>;
  /** Journalled: resolves when a SIGKILL can no longer lose them. */
  keep(callId: string, resources: readonly Resource[]): Promise<void>;
  /** What lists show of the workspace's resources, as far as the drains of all processes have come. */
  list(
    workspaceId: string,
    page: ResourcePage,
  ): Promise<{ readonly views: readonly ResourceView[]; readonly more: boolean }>;
  /** The provider has deleted it: gone for the client at once. */
  forget(resource: Resource): Promise<void>;
}

/** A file on its way to a provider. */
export interface FileToStore {
  readonly callId: string;
  readonly workspaceId: string;
  readonly bytes: number;
}

/** Room for the files of workspaces (contract: batches/room). */
export interface FileRoom {
  /**
   * Takes room for a file that is to be uploaded. It counts until the file itself is recorded, or until `leave`.
   * @returns which limit it would exceed, with its value; null: none.
   */
  take(file: FileToStore): Promise<{ readonly limit: 'files' | 'bytes'; readonly most: number } | null>;
  /** The upload of this call stored nothing. */
  leave(callId: string): Promise<void>;
}
