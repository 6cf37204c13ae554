/** A part of an answer, in the order of arrival. */
export type Piece =
  | { readonly kind: 'text' | 'thought'; readonly text: string }
  | {
      readonly kind: 'picture';
      /** A data URL. */
      readonly source: string;
      /** From 0; a later one of the same place replaces it. */
      readonly place: number;
      /** More of it is still to come. */
      readonly partial: boolean;
    }
  /** The address of a picture at a provider. */
  | { readonly kind: 'link'; readonly href: string }
  /** The output budget ended the answer. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'fault'; readonly code: string | null; readonly message: string };

type Members = Readonly<Record<string, unknown>>;

/** What is not an object has no members: answers come from providers and may contain anything. */
export function members(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** null: it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An empty string gives no piece. */
export function spoken(kind: 'text' | 'thought', value: unknown): Piece[] {
  const text = textOf(value);
  return text === '' ? [] : [{ kind, text }];
}

/** The error of a body or an event, in the shape of any protocol; empty if there is none. */
export function faultIn(value: unknown): Piece[] {
  const { error, detail } = members(value);
  if (typeof error === 'string') return [{ kind: 'fault', code: null, message: error }];
  const { message, code, type, status } = members(error);
  if (textOf(message) === '') {
    return typeof detail === 'string' ? [{ kind: 'fault', code: null, message: detail }] : [];
  }
  const named = [code, type, status].find((one) => typeof one === 'string' && one !== '');
  return [{ kind: 'fault', code: textOf(named) || null, message: textOf(message) }];
}

const pictureTypes = ['png', 'jpeg', 'webp', 'gif'];

/** A Base64 picture, shown as the type it claims if that type cannot contain scripts, otherwise as PNG. */
export function picture(base64: unknown, type: unknown, place: number, partial = false): Piece[] {
  const data = textOf(base64);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return [];
  const named = textOf(type)
    .replace(/^image\//, '')
    .replace(/^jpg$/, 'jpeg');
  const format = pictureTypes.includes(named) ? named : 'png';
  return [{ kind: 'picture', source: `data:image/${format};base64,${data}`, place, partial }];
}

/** A link, if the address is safe for a browser. */
export function link(href: unknown): Piece[] {
  const text = textOf(href);
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? [{ kind: 'link', href: text }] : [];
}
