import { badBody, bodyFaults, longestBodyMs, mostBytes, textOf } from '#lib/control/management/limits';

/** The body as UTF-8 text. @throws Denied (invalid_body) if it is too large, too slow or cut off. */
export async function readWebBody(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(badBody(bodyFaults.slow)), longestBodyMs);
  try {
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; ; ) {
      const read = reader.read().catch(() => Promise.reject(badBody(bodyFaults.cut)));
      const { done, value } = await Promise.race([read, late.promise]);
      if (done) return textOf(chunks);
      bytes += value.length;
      if (bytes > mostBytes) throw badBody(bodyFaults.large);
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}
