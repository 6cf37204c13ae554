/** Handles cookies and redirects like a browser. */
export interface CookieJar {
  fetch(address: string, init?: RequestInit): Promise<Response>;
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

/** @param origin of the console: only it gets the cookies. */
export function cookieJar(origin: string): CookieJar {
  const cookies = new Map<string, string>();
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    get: (name) => cookies.get(name),
    set: (name, value) => void cookies.set(name, value),
    fetch: async (address, init = {}) => {
      const url = new URL(address, origin);
      const own = url.origin === origin;
      const headers = { ...init.headers, ...(own && cookies.size > 0 ? { cookie: header() } : {}) };
      const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
      for (const line of own ? answer.headers.getSetCookie() : []) {
        const [pair = ''] = line.split(';');
        const at = pair.indexOf('=');
        const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
        if (value === '' || /max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    },
  };
}
