import { showAgo, showDay } from '#lib/console/show/time';

/** A session as the account page lists it. */
export interface SessionRow {
  readonly id: string;
  readonly current: boolean;
  /** "Chrome on macOS". */
  readonly device: string;
  /** "4 min ago · 192.0.2.7 · with GitHub". */
  readonly facts: string;
  /** "4 min ago", and when exactly, ISO. */
  readonly seen: { readonly text: string; readonly exact: string };
  /** "22 Nov 2026", in UTC, and when exactly, ISO. */
  readonly since: { readonly text: string; readonly exact: string };
  /** "192.0.2.7 · with GitHub"; empty: neither is known. */
  readonly from: string;
}

interface Listed {
  readonly id: string;
  readonly current: boolean;
  readonly method: string;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly createdAt: string;
  readonly seenAt: string;
}

const methods: Readonly<Record<string, string>> = { github: 'with GitHub', google: 'with Google' };

export function sessionRowOf(session: Listed, nowMs: number): SessionRow {
  const { id, current, method, userAgent, address, createdAt, seenAt } = session;
  const seen = current ? 'now' : showAgo(Date.parse(seenAt), nowMs);
  const facts = [seen, address, methods[method]].filter(Boolean).join(' · ');
  return {
    id,
    current,
    device: deviceOf(userAgent),
    facts,
    seen: { text: seen, exact: seenAt },
    since: { text: showDay(Date.parse(createdAt), 'UTC'), exact: createdAt },
    from: [address, methods[method]].filter(Boolean).join(' · '),
  };
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
export function deviceOf(userAgent: string | null): string {
  const named = (list: readonly (readonly [string, RegExp])[]) =>
    list.find(([, pattern]) => pattern.test(userAgent ?? ''))?.[0];
  const browser = named(browsers);
  const system = named(systems);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (system ? `A browser on ${system}` : 'Unknown device');
}
