/** One page of what is exported, and where the next one starts. */
export interface FilePage<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** What a file is made of. */
export interface FileParts<Row> {
  readonly head: string;
  line(row: Row): string;
  /** Its first page. */
  readonly first: FilePage<Row>;
  /** The page that starts at a place; when it throws, the file breaks off. */
  more(after: string): Promise<FilePage<Row>>;
  /** Waits so many ms. */
  rest(ms: number): Promise<unknown>;
}

/**
 * The rows of a search as a file, read page by page as fast as it is taken. Each page is followed by a rest of its own
 * length: the process that writes the file serves calls too.
 */
export function csvFile<Row>({ head, line, first, more, rest }: FileParts<Row>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let start = head;
  let page = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (start === '' && page.data.length === 0 && page.next !== null) await turn();
        const lines = start + page.data.map(line).join('');
        start = '';
        if (lines !== '') controller.enqueue(encoder.encode(lines));
        if (page.next === null) controller.close();
        else await turn();
      },
      cancel() {
        page = { data: [], next: null };
      },
    },
    { highWaterMark: 1 },
  );

  /** A search may look at many rows before it finds one, so a page may be empty and not the last. */
  async function turn(): Promise<void> {
    const { next } = page;
    if (next === null) return;
    const startedMs = performance.now();
    page = await more(next);
    await rest(performance.now() - startedMs);
  }
}

/** Headers of an answer that is a file, streamed and kept by nobody. @param name "calls-acme-2026-11-22.csv". */
export function fileHeaders(name: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  };
}
