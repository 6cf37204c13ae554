import type { MaskKind } from '#lib/core/facts/snapshot';
import type { Finder, Found } from '#lib/gateway/content/pure/masks/found';

/** What begins like the keys of well-known services, and what authorises in a header or a URL. */
const keyForms: readonly RegExp[] = [
  /(?<![A-Za-z0-9])(?:sk|pk|rk)-[\w-]{16,}/g,
  /(?<![A-Za-z0-9])(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /(?<![A-Za-z0-9])mgk?_[0-9A-Za-z]{49}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}/g,
  /(?<![A-Za-z0-9])(?:gh[opusr]_|github_pat_|glpat-|hf_|gsk_|xai-|pplx-|r8_|fw_|npm_|pypi-|whsec_|shp(?:at|ca|pa|ss)_|dop_v1_|hv[sb]\.|lin_api_|nvapi-|tgp_v1_|ntn_|sntrys_|figd_|AGE-SECRET-KEY-)[\w-]{16,}/g,
  /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[\w-]{10,}/g,
  /(?<![A-Za-z0-9])(?:AIza|ya29\.|GOCSPX-)[\w-]{20,}/g,
  /(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,}/g,
  /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}/g,
  /\b(?:bearer|basic)[ \t]{1,4}[\w.~+/=-]{16,}/gi,
  // A name and a password in a URL.
  /(?<=:\/\/)[^\s/:@"'<>]{1,128}:[^\s/@"'<>]{3,256}(?=@)/g,
];

const named =
  '(?:api|access|secret|private|account|subscription|signing|encryption)[_ -]?key|client[_-]?secret|secret|passw(?:or)?d|passphrase|(?:access|auth|refresh|bearer|session|api|authorization)[_-]?token|authorization';
/** What is said to be a secret: `password = "hunter22"`, in code, settings and JSON. */
const assigned = new RegExp(
  `(?:${named})["'\\\\]{0,4}\\s{0,4}(?:=>|:=|[:=])\\s{0,4}["'\\\\]{0,4}(?<value>[^\\s"'\\\\,;]{6,512})`,
  'gi',
);
const secretName = new RegExp(`^(?:[\\w-]{0,40}[_-])?(?:${named})$`, 'i');

const keyBlock = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const keyBlockEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** API keys, tokens, passwords and private keys. */
function findKeys(text: string): readonly Found[] {
  const name = 'key';
  const found = keyForms.flatMap((form) => all(form, text, name));
  for (const match of text.matchAll(assigned)) {
    const value = match.groups?.value ?? '';
    const to = match.index + match[0].length;
    // Code names types and variables behind such words; a secret nearly always has a digit.
    if (/\d/.test(value)) found.push({ from: to - value.length, to, name });
  }
  found.push(...findTokens(text));
  keyBlock.lastIndex = 0;
  for (let begin = keyBlock.exec(text); begin !== null; begin = keyBlock.exec(text)) {
    keyBlockEnd.lastIndex = keyBlock.lastIndex;
    // Without an end, it was cut: all of the rest may be key.
    const to = keyBlockEnd.exec(text) === null ? text.length : keyBlockEnd.lastIndex;
    found.push({ from: begin.index, to, name });
    keyBlock.lastIndex = to;
  }
  return found;
}

/** JSON Web Tokens: what begins with `{"` in Base64, and a point after it. */
function findTokens(text: string): Found[] {
  const found: Found[] = [];
  for (const { 0: run, index } of text.matchAll(/[\w.-]{20,}/g)) {
    for (let begin = run.indexOf('eyJ'); begin >= 0; ) {
      const point = run.indexOf('.', begin);
      if (point < 0) break;
      if (point - begin >= 11 && run.length - point > 8) {
        found.push({ from: index + begin, to: index + run.length, name: 'key' });
        break;
      }
      begin = run.indexOf('eyJ', point);
    }
  }
  return found;
}

/** Whether the value of a property of this name is a secret as a whole: `"api_key": "…"`. */
export function isSecretName(property: string): boolean {
  return secretName.test(property);
}

const inLocal = /[\p{L}\p{N}._%+~!#$'-]/u;
const inDomain = /[\p{L}\p{N}.-]/u;
const longestLocal = 128;
const longestDomain = 255;

function findMail(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: at, index } of text.matchAll(/@|%40/g)) {
    let from = index;
    while (from > 0 && index - from < longestLocal && inLocal.test(text.charAt(from - 1))) from -= 1;
    while (from < index && /[.']/.test(text.charAt(from))) from += 1;
    const begin = index + at.length;
    let end = begin;
    while (end < text.length && end - begin < longestDomain && inDomain.test(text.charAt(end))) end += 1;
    const domain = domainIn(text.slice(begin, end));
    if (from < index && domain > 0) found.push({ from, to: begin + domain, name: 'mail address' });
  }
  return found;
}

/** The length of the domain at the beginning of a run of its characters; 0: there is none. */
function domainIn(run: string): number {
  let domain = run.replace(/[.-]+$/, '');
  while (domain.includes('.')) {
    const last = domain.slice(domain.lastIndexOf('.') + 1);
    if (/^\p{L}[\p{L}\p{N}-]+$/u.test(last)) return /^[\p{L}\p{N}]/u.test(domain) ? domain.length : 0;
    domain = domain.slice(0, domain.lastIndexOf('.')).replace(/[.-]+$/, '');
  }
  return 0;
}

const cardRun = /\d(?:[ \t.\u00a0\u202f\u2010-\u2015-]?\d){12,}/g;

/** 13 to 19 digits, in groups or not, that begin as cards do and pass the check of Luhn. */
function findCards(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: run, index } of text.matchAll(cardRun)) {
    const digits: number[] = [];
    const places: number[] = [];
    for (let place = 0; place < run.length; place += 1) {
      const digit = run.charCodeAt(place) - 48;
      if (digit < 0 || digit > 9) continue;
      digits.push(digit);
      places.push(place);
    }
    for (let first = 0; first + 13 <= digits.length; first += 1) {
      const count = cardAt(digits, places, first);
      if (count === 0) continue;
      const from = index + (places[first] ?? 0);
      const to = index + (places[first + count - 1] ?? 0) + 1;
      if (isOfHexWord(text, from, to) || (first > 0 && isDecimal(run, places, first, count))) continue;
      found.push({ from, to, name: 'card number' });
      first += count - 1;
    }
  }
  return found;
}

/** How many digits the card has that begins with this one; 0: none begins here. */
function cardAt(digits: readonly number[], places: readonly number[], first: number): number {
  const lead = digits[first] ?? 0;
  if (lead < 2 || lead > 6) return 0;
  const adjoins = (digit: number) => places[digit] === (places[digit - 1] ?? 0) + 1;
  if (first > 0 && adjoins(first)) return 0;
  for (let count = Math.min(19, digits.length - first); count >= 13; count -= 1) {
    const next = first + count;
    if (next < digits.length && adjoins(next)) continue;
    if (passesLuhn(digits, first, count)) return count;
  }
  return 0;
}

function passesLuhn(digits: readonly number[], first: number, count: number): boolean {
  let sum = 0;
  for (let back = 0; back < count; back += 1) {
    const digit = digits[first + count - 1 - back] ?? 0;
    sum += back % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
}

/** The decimals of a number: "0.4111111111111111". */
function isDecimal(run: string, places: readonly number[], first: number, count: number): boolean {
  const [from, to] = [places[first] ?? 0, places[first + count - 1] ?? 0];
  return run[from - 1] === '.' && to - from + 1 === count;
}

/** Digits in the middle of a hash. */
function isOfHexWord(text: string, from: number, to: number): boolean {
  let [begin, end] = [from, to];
  const isHex = (place: number) => /[0-9a-fA-F]/.test(text.charAt(place));
  while (begin > 0 && from - begin < 64 && isHex(begin - 1)) begin -= 1;
  while (end < text.length && end - to < 64 && isHex(end)) end += 1;
  return end - begin >= 32 && /[a-fA-F]/.test(text.slice(begin, end));
}

const phoneForms: readonly RegExp[] = [
  // With the code of a country: +49 30 123456, 0049 30 123456.
  /(?<!\d)\+\(?(?:[ \t\u00a0.\-()/]{0,3}\d){7,15}(?!\d)/g,
  /(?<![\d.,])00(?:[ \t\u00a0.\-()/]{0,3}\d){8,15}(?!\d)/g,
  // North America, with and without separators.
  /(?<![\d.,])(?:1[ .-])?\(?\d{3}\)?[ \u00a0.-]{1,2}\d{3}[ \u00a0.-]\d{4}(?!\d)/g,
  /(?<!\d)\(\d{3}\)[ \u00a0.-]?\d{3}[ \u00a0.-]?\d{4}(?!\d)/g,
  /(?<![\w.,])1?[2-9]\d{2}[2-9]\d{6}(?!\w)/g,
  // India, and mobile numbers of China.
  /(?<![\d.,])[6-9]\d{4}[ -]\d{5}(?!\d)/g,
  /(?<![\w.,])1[3-9]\d{9}(?!\w)/g,
  // With the zero of a country's own numbers, without separators.
  /(?<![\w.,])0\d{9,10}(?!\w)/g,
];
/** With the zero of a country's own numbers, in groups: 030 1234567, 06 12 34 56 78. */
const grouped = /(?<!\d|\d[-.,/])\(?0\d{1,5}\)?(?:[ \u00a0./-]{1,3}\d{2,8}){1,5}(?!\d)/g;

function findPhones(text: string): readonly Found[] {
  const name = 'phone number';
  const found = phoneForms.flatMap((form) => all(form, text, name));
  for (const one of all(grouped, text, name)) {
    // Eight digits are a date.
    const digits = text.slice(one.from, one.to).replace(/\D/g, '').length;
    if (digits >= 9 && digits <= 13) found.push(one);
  }
  return found;
}

function all(form: RegExp, text: string, name: string): Found[] {
  return Array.from(text.matchAll(form), ({ 0: { length }, index }) => ({
    from: index,
    to: index + length,
    name,
  }));
}

/** How each ready mask finds what it masks. */
export const readyFinders: Readonly<Record<MaskKind, Finder>> = {
  keys: findKeys,
  mail: findMail,
  cards: findCards,
  phones: findPhones,
};
