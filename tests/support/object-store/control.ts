/** How the stand-in behaves. */
export interface StoreState {
  /** It takes requests and never answers. */
  readonly hangs: boolean;
  /** It takes no more objects. */
  readonly full: boolean;
  /** What it answers to everything; null: as it should. */
  readonly refuseWith: { readonly status: number; readonly code: string } | null;
  /** Whether the bucket keeps old versions. */
  readonly versions: boolean;
}

export const works: StoreState = { hangs: false, full: false, refuseWith: null, versions: false };

/** What it knows. */
export const storeKeys = {
  bucket: 'kept-content',
  accessKeyId: 'STOREKEY00000000TEST',
  secretAccessKey: 'store-secret-of-tests',
};
