import type { FamilyId } from '#lib/core/families/ids';

/**
 * What a request may have a provider store without naming a model, with the family whose address is called. Not every
 * server of a family can: the catalogue says which (contract: routing/no-model).
 */
export const storeFamilies = {
  conversations: 'responses',
  characters: 'videos',
  files: 'chat',
  batches: 'chat',
  messageFiles: 'messages',
  messageBatches: 'messages',
  contentFiles: 'generate-content',
} as const satisfies Readonly<Record<string, FamilyId>>;

export type StoreName = keyof typeof storeFamilies;

export const storeNames = Object.keys(storeFamilies) as readonly StoreName[];

/** Those whose things take room of the workspace's files (contract: batches/room). */
export const fileStores: ReadonlySet<StoreName> = new Set(['files', 'messageFiles', 'contentFiles']);
/** Those that only the operator's credentials are used for (contract: own-keys/use). */
export const operatorStores: ReadonlySet<StoreName> = new Set([...fileStores, 'batches', 'messageBatches']);
