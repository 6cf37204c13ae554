/** Where objects are (contract: operations/settings). */
export interface StoreSettings {
  /** Where new objects go; null: new content goes to the database. */
  readonly target: { readonly bucket: string; readonly prefix: string } | null;
  /** null: AWS. */
  readonly endpoint: string | null;
  /** null: as the SDK finds it. */
  readonly region: string | null;
  readonly pathStyle: boolean;
}
