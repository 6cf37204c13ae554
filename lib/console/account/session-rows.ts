import { showAgo } from '#lib/console/show/time';

/** A session as the account page lists it. */
export interface SessionRow {
  readonly id: string;
  readonly current: boolean;
  /** "Chrome on macOS". */
  readonly device: string;
  /** "4 min ago · 192.0.2.7 · with GitHub". */
  readonly facts: string;
  /** When it was last seen, ISO, for the tooltip. */
  readonly seenAt: string;
}

interface Listed {
  readonly id: string;
  readonly current: boolean;
  readonly method: string;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly seenAt: string;
}

const methods: Readonly<Record<string, string>> = { github: 'with GitHub', google: 'with Google' };

export function sessionRowOf(session: Listed, nowMs: number): SessionRow {
  const { id, current, method, userAgent, address, seenAt } = session;
  const seen = current ? 'now' : showAgo(Date.parse(seenAt), nowMs);
  const facts = [seen, address, methods[method]].filter(Boolean).join(' · ');
  return { id, current, device: deviceOf(userAgent), facts, seenAt };
}

/** Most specific first: each of these also has the names below it in its user agent. */
const browsers = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
] as const;
const systems = [
  ['iOS', /\b(?:iPhone|iPod)\b/],
  ['iPadOS', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** The browser and system of a user agent; only the system if the browser is unknown. */
function deviceOf(userAgent: string | null): string {
  const named = (list: readonly (readonly [string, RegExp])[]) =>
    list.find(([, pattern]) => pattern.test(userAgent ?? ''))?.[0];
  const browser = named(browsers);
  const system = named(systems);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (system ? `A browser on ${system}` : 'Unknown device');
}
