import type { FormAnswer } from '#components/form/answer';
import type { FormField } from '#lib/console/form';

/** A saved view in the menu of its page. */
export interface SavedView {
  readonly id: string;
  readonly name: string;
  /** Of the page's URL. */
  readonly query: string;
  readonly shared: boolean;
  /** Whether it is the user's own. */
  readonly own: boolean;
  readonly editable: boolean;
  /** Who saved it; null: an operator on the command line. */
  readonly author: string | null;
}

type Change = (workspace: string, input: unknown) => Promise<FormAnswer<unknown>>;

export interface ViewMenuProps {
  /** Slug. */
  workspace: string;
  /** The page, as in its URL: "logs". */
  page: string;
  /** What a view may keep of the page's URL. */
  parameters: readonly string[];
  views: readonly SavedView[];
  /** The form that saves one. */
  fields: readonly FormField[];
  /** Why the user cannot save any; null: they can. */
  locked: string | null;
  actions: { readonly create: Change; readonly rename: Change; readonly remove: Change };
}
