import type { Exchange } from '#lib/gateway/upstream/exchange';
import { failureName } from '#lib/gateway/upstream/pure/classify';

/** How long to wait for the body of an error if the status already decides, ms. */
const PATIENCE_MS = 1_000;

/**
 * The body of an error, parsed, kept for the client as well; its text if it is not JSON.
 * @param decided the status already decides that the next target is tried: a body that is late or torn counts as none.
 * @throws Error of an exchange that broke, if the body decides; always if the client left.
 */
export async function parsedBody(exchange: Exchange, decided: boolean): Promise<unknown> {
  if (!decided) return parsed(await exchange.peek());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS);
  });
  try {
    const body = await Promise.race([exchange.peek(), late]);
    return body === null ? null : parsed(body);
  } catch (error) {
    if (failureName(error) === 'client_gone') throw error;
    return null;
  } finally {
    clearTimeout(timer);
  }
}

function parsed(body: Uint8Array): unknown {
  const text = new TextDecoder().decode(body);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
