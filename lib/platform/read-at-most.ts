/** The bytes of an untrusted body; null as soon as there are more than `most`, and the rest is not read. */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // What is left unread goes with the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
